import { useSyncExternalStore } from 'react';

const query = '(min-width: 900px)';
const media = typeof matchMedia === 'undefined' ? null : matchMedia(query);

function subscribe(listener: () => void): () => void {
  media?.addEventListener('change', listener);
  return () => media?.removeEventListener('change', listener);
}

/** Whether two panes fit beside each other. */
export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => media?.matches ?? true);
}
