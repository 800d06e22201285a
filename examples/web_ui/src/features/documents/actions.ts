import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { documents } from '@/api/calls';
import { keys } from '@/api/queries';
import { createStore } from '@/api/store';
import { uploads } from '@/features/upload/uploads';
import { errorText } from '@/ui/message';

const atOnce = 6;

/** Ids on their way out, and those that are gone: an answer that was under way must not bring them back. */
export const leaving = createStore<ReadonlySet<string>>(new Set());
export const gone = createStore<ReadonlySet<string>>(new Set());

export interface Outcome {
  done: number;
  failures: string[];
}

/** Do one thing for each id, a few at a time; failures are collected, never thrown. */
export async function forEach(
  ids: string[],
  act: (id: string) => Promise<unknown>,
  onProgress: (done: number) => void = () => undefined,
): Promise<Outcome> {
  const failures: string[] = [];
  let next = 0;
  let done = 0;
  const run = async () => {
    while (next < ids.length) {
      const id = ids[next++] ?? '';
      try {
        await act(id);
        done += 1;
      } catch (cause) {
        failures.push(errorText(cause));
      }
      onProgress(done + failures.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, run));
  return { done, failures };
}

const withIds = (before: ReadonlySet<string>, ids: string[]) => new Set([...before, ...ids]);
const withoutIds = (before: ReadonlySet<string>, ids: string[]) => {
  const after = new Set(before);
  for (const id of ids) after.delete(id);
  return after;
};

export function useDocumentActions(kbId: string) {
  const cache = useQueryClient();
  const refresh = useCallback(
    () =>
      Promise.all(
        [keys.documents(kbId), keys.kb(kbId), keys.kbs].map((queryKey) => cache.invalidateQueries({ queryKey })),
      ),
    [cache, kbId],
  );

  const remove = useCallback(
    async (ids: string[], onProgress?: (done: number) => void) => {
      leaving.set((before) => withIds(before, ids));
      const outcome = await forEach(
        ids,
        async (id) => {
          await documents.remove(kbId, id);
          gone.set((before) => withIds(before, [id]));
        },
        onProgress,
      );
      leaving.set((before) => withoutIds(before, ids));
      uploads.forgetDocuments(gone.get());
      await refresh();
      return outcome;
    },
    [kbId, refresh],
  );

  const reindex = useCallback(
    async (ids: string[], onProgress?: (done: number) => void) => {
      const outcome = await forEach(ids, (id) => documents.reindex(kbId, id), onProgress);
      cache.removeQueries({ queryKey: ['live', kbId] });
      await refresh();
      return outcome;
    },
    [cache, kbId, refresh],
  );

  return { remove, reindex, refresh };
}

/** Save the original through a short-lived link: the browser streams it, whatever its size. */
export async function download(kbId: string, documentId: string): Promise<void> {
  const { token } = await documents.downloadToken(kbId, documentId);
  const link = document.createElement('a');
  const url = documents.rawUrl(kbId, documentId);
  url.search = new URLSearchParams({ token, download: 'true' }).toString();
  link.href = url.href;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
