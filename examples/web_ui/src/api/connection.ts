import { identity, refused } from './identity';
import { createStore } from './store';
import type { ApiError } from './errors';

export interface Connection {
  reachable: boolean;
  reason: string;
}

export const connection = createStore<Connection>({ reachable: true, reason: '' });

export const serviceUrl = new URL('.', typeof location === 'undefined' ? 'http://localhost/' : location.href.split('#')[0]);

const probeEveryMs = 3000;
let probing: ReturnType<typeof setTimeout> | null = null;

/** Called for every answer: any answer at all shows that the service is there. */
export function reportReached(): void {
  if (!connection.get().reachable) connection.set({ reachable: true, reason: '' });
}

export function reportFailure(error: ApiError): void {
  if (error.status === 401 && error.code === 'unauthenticated' && identity.get().token !== null) refused.set(true);
  if (!error.unreachable) return reportReached();
  connection.set((before) => (before.reachable ? { reachable: false, reason: error.message } : before));
  probing ??= setTimeout(probe, probeEveryMs);
}

/** Ask `/health` now; keeps asking until it answers. */
export async function probe(): Promise<void> {
  if (probing !== null) clearTimeout(probing);
  probing = null;
  try {
    const answer = await globalThis.fetch(new URL('health', serviceUrl), { cache: 'no-store' });
    if (![502, 504].includes(answer.status)) return reportReached();
  } catch {
    // Still away: the next probe is scheduled below.
  }
  probing ??= setTimeout(probe, probeEveryMs);
}

if (typeof window !== 'undefined') {
  window.addEventListener('online', () => {
    if (!connection.get().reachable) void probe();
  });
}
