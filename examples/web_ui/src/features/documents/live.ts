import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { documents } from '@/api/calls';
import { keys } from '@/api/queries';
import { isMoving, type KnowledgeDocument } from '@/api/types';
import { uploads } from '@/features/upload/uploads';
import { idsPerCall, nextPoll } from './polling';

export type LiveDocuments = Record<string, KnowledgeDocument>;

const none: LiveDocuments = {};
const liveKey = (kbId: string) => ['live', kbId];
const countsEveryMs = 2000;
const listEveryMs = 3000;

/** The newest known view of each document of a knowledge base that was ever asked for. */
export function useLive(kbId: string): LiveDocuments {
  return useQuery<LiveDocuments>({ queryKey: liveKey(kbId), queryFn: () => none, enabled: false }).data ?? none;
}

export function newer(row: KnowledgeDocument, live: KnowledgeDocument | undefined): KnowledgeDocument {
  return live && live.updated_at >= row.updated_at ? live : row;
}

/**
 * Ask for the state of these documents once a second while one of them moves.
 * Answers go where `useLive` reads them; the counts and the list follow more slowly.
 */
export function useStatusPolling(kbId: string, ids: string[], movingElsewhere: number): { failing: boolean } {
  const cache = useQueryClient();
  const live = useLive(kbId);
  const wanted = ids.filter((id) => !live[id] || isMoving(live[id].status)).slice(0, idsPerCall);
  const latest = useRef({ wanted, movingElsewhere });
  const [failures, setFailures] = useState(0);
  const marks = useRef({ counts: 0, list: 0 });
  useEffect(() => {
    latest.current = { wanted, movingElsewhere };
  });
  const moving = wanted.length + movingElsewhere;
  const active = moving > 0;

  useEffect(() => {
    if (!active) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    let failed = 0;
    let over = false;

    const follow = (finished: boolean) => {
      const now = Date.now();
      if (finished || now - marks.current.counts >= countsEveryMs) {
        marks.current.counts = now;
        void cache.invalidateQueries({ queryKey: keys.kb(kbId) });
      }
      if (now - marks.current.list >= listEveryMs) {
        marks.current.list = now;
        void cache.invalidateQueries({ queryKey: keys.documents(kbId) });
      }
    };

    const round = async () => {
      const { wanted: asked } = latest.current;
      try {
        let finished = false;
        if (asked.length > 0) {
          const items = await documents.status(kbId, asked);
          if (over) return;
          finished = items.some((item) => !isMoving(item.status));
          const gone = asked.filter((id) => !items.some((item) => item.id === id));
          cache.setQueryData<LiveDocuments>(liveKey(kbId), (before = none) => {
            const after = { ...before };
            for (const item of items) after[item.id] = item;
            for (const id of gone) delete after[id];
            return after;
          });
          // Deleted elsewhere: nothing will ever be heard of them again.
          if (gone.length > 0) uploads.forgetDocuments(new Set(gone));
        }
        failed = 0;
        follow(finished);
      } catch {
        failed += 1;
      }
      if (over) return;
      setFailures(failed);
      plan();
    };

    const plan = () => {
      const { wanted: asked, movingElsewhere: others } = latest.current;
      const wait = nextPoll({ moving: Math.max(1, asked.length + others), hidden: document.hidden, failures: failed });
      if (wait !== null) timer = setTimeout(round, wait);
    };

    const wake = () => {
      if (document.hidden) return;
      if (timer !== null) clearTimeout(timer);
      void round();
    };
    document.addEventListener('visibilitychange', wake);
    timer = setTimeout(round, 250);
    return () => {
      over = true;
      if (timer !== null) clearTimeout(timer);
      document.removeEventListener('visibilitychange', wake);
      // One last look when all stands still, so that counts and rows end right.
      void cache.invalidateQueries({ queryKey: keys.kb(kbId) });
      void cache.invalidateQueries({ queryKey: keys.documents(kbId) });
    };
  }, [active, cache, kbId]);

  return { failing: failures > 1 };
}
