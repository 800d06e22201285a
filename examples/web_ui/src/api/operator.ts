// Calls of whoever runs the service. They carry the operator key, which belongs to no user.
import { serviceUrl } from './connection';
import { errorFrom, networkError } from './errors';
import { recallText, remember } from './memory';
import type { Overview, Pause, PauseTarget } from './types';

export const operatorKey = {
  get: () => recallText('session', 'operator'),
  set: (key: string | null) => remember('session', 'operator', key),
};

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const key = operatorKey.get();
  let answer: Response;
  try {
    answer = await globalThis.fetch(new URL(`operator/${path}`, serviceUrl), {
      method,
      headers: { ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(body ? { 'Content-Type': 'application/json' } : {}) },
      body: body && JSON.stringify(body),
    });
  } catch (cause) {
    throw networkError(cause);
  }
  const read: unknown = answer.status === 204 ? null : await answer.json().catch(() => null);
  if (!answer.ok) throw errorFrom(answer.status, read, answer.headers.get('retry-after'));
  return read as T;
}

interface Retried {
  retried: number;
  next: string | null;
}

export const operator = {
  overview: () => ask<Overview>('GET', 'overview'),
  pause: (target: PauseTarget & { reason: string }) => ask<Pause>('POST', 'pause', target),
  resume: (target: PauseTarget) => ask<null>('POST', 'resume', target),
  /** Try all failed documents again, batch by batch; returns how many. */
  retry: async (code: string | null, onProgress: (retried: number) => void): Promise<number> => {
    let retried = 0;
    let after: string | null = '';
    while (after !== null) {
      const batch: Retried = await ask<Retried>('POST', 'retry', { code, after });
      retried += batch.retried;
      onProgress(retried);
      after = batch.next;
    }
    return retried;
  },
};
