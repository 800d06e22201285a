// Browser storage that may be missing or full: reading gives the fallback, writing is best effort.

type Area = 'local' | 'session';

function area(kind: Area): Storage | null {
  try {
    return kind === 'local' ? localStorage : sessionStorage;
  } catch {
    return null;
  }
}

const prefix = 'agentscope.';

export function remember(kind: Area, key: string, value: unknown): void {
  try {
    if (value === undefined || value === null) area(kind)?.removeItem(prefix + key);
    else area(kind)?.setItem(prefix + key, typeof value === 'string' ? value : JSON.stringify(value));
  } catch {
    // A full or forbidden storage loses a convenience, never data.
  }
}

export function recallText(kind: Area, key: string): string | null {
  try {
    return area(kind)?.getItem(prefix + key) ?? null;
  } catch {
    return null;
  }
}

export function recall<T>(kind: Area, key: string, fallback: T): T {
  const text = recallText(kind, key);
  if (text === null) return fallback;
  try {
    return JSON.parse(text) as T;
  } catch {
    return fallback;
  }
}

/** Forget every entry of `kind` whose key starts with `start`. */
export function forget(kind: Area, start: string): void {
  const storage = area(kind);
  if (!storage) return;
  for (const key of Object.keys(storage)) if (key.startsWith(prefix + start)) storage.removeItem(key);
}
