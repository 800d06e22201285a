import { createStore, useStore } from '@/api/store';

const everyMs = 5000;
const spoken = createStore('');
let last = 0;
let waiting: ReturnType<typeof setTimeout> | null = null;
let next = '';

/** Say something to screen readers; at most one sentence in five seconds, the newest wins. */
export function announce(text: string): void {
  next = text;
  if (waiting !== null) return;
  waiting = setTimeout(
    () => {
      waiting = null;
      last = Date.now();
      spoken.set(next);
    },
    Math.max(50, last + everyMs - Date.now()),
  );
}

export function LiveRegion() {
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {useStore(spoken)}
    </div>
  );
}
