import { useMemo, useSyncExternalStore } from 'react';
import { connection } from '@/api/connection';
import { identity } from '@/api/identity';
import { UploadQueue, type UploadItem } from './queue';
import { sendFile } from './send';
import { rememberUnsent, unsentOf } from './unsent';

type SentListener = (item: UploadItem) => void;
const sentListeners = new Set<SentListener>();

export const uploads = new UploadQueue({
  send: sendFile,
  onSent: (item) => {
    for (const listener of sentListeners) listener(item);
  },
});

export function onSent(listener: SentListener): () => void {
  sentListeners.add(listener);
  return () => sentListeners.delete(listener);
}

connection.subscribe(() => {
  if (connection.get().reachable) uploads.resume();
});

identity.subscribe(() => uploads.resume());

// --- What would be lost by a reload is remembered, soon after each change and at once when the page goes.

const touched = new Set<string>();
let saving: ReturnType<typeof setTimeout> | null = null;

function save(): void {
  if (saving !== null) clearTimeout(saving);
  saving = null;
  const items = uploads.get();
  for (const kbId of touched) {
    const mine = items.filter((item) => item.kbId === kbId);
    rememberUnsent(identity.get().user, kbId, unsentOf(mine));
    if (mine.length === 0) touched.delete(kbId);
  }
}

uploads.subscribe(() => {
  for (const item of uploads.get()) touched.add(item.kbId);
  saving ??= setTimeout(save, 400);
});

export function bytesMoving(): boolean {
  return uploads.get().some(({ state }) => state === 'waiting' || state === 'sending');
}

if (typeof window !== 'undefined') {
  window.addEventListener('pagehide', save);
  window.addEventListener('beforeunload', (event) => {
    save();
    if (bytesMoving()) event.preventDefault();
  });
}

export function useUploads(kbId: string): UploadItem[] {
  const all = useSyncExternalStore(uploads.subscribe, uploads.get, uploads.get);
  return useMemo(() => all.filter((item) => item.kbId === kbId), [all, kbId]);
}
