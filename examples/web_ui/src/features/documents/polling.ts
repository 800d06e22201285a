export const idsPerCall = 100;
const hiddenMs = 10_000;
const movingMs = 1000;
const slowestMs = 30_000;

interface Situation {
  moving: number;
  hidden: boolean;
  failures: number;
}

/** Milliseconds until the next status call; null when everything stands still. */
export function nextPoll({ moving, hidden, failures }: Situation): number | null {
  if (moving === 0) return null;
  const normal = hidden ? hiddenMs : movingMs;
  return failures === 0 ? normal : Math.max(normal, Math.min(slowestMs, movingMs * 2 ** failures));
}

export interface Estimate {
  startedAt: number;
  startedShare: number;
}

/** Seconds left, only once five seconds and a tenth of real progress have been seen. */
export function secondsLeft(share: number, since: Estimate, now: number): number | null {
  const elapsed = (now - since.startedAt) / 1000;
  const gained = share - since.startedShare;
  if (elapsed < 5 || gained < 0.1 || share >= 1) return null;
  return Math.round(((1 - share) / gained) * elapsed);
}
