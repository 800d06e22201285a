import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { documents } from '@/api/calls';
import { identity } from '@/api/identity';
import { supportedQuery } from '@/api/queries';
import type { KnowledgeBase, OnDuplicate } from '@/api/types';
import type { PickedFile } from './collect';
import { findDuplicates } from './duplicates';
import { type Triage, triage } from './triage';
import { uploads } from './uploads';
import { type Fingerprint, matchUnsent, recallUnsent, rememberUnsent } from './unsent';

const mostCompared = 1280;

export interface Report extends Triage {
  duplicates: PickedFile[];
}

/** From picked files to running uploads: straight on when all is well, over a report when something is not. */
export function useIntake(kb: KnowledgeBase) {
  const cache = useQueryClient();
  useQuery(supportedQuery);
  const [report, setReport] = useState<Report | null>(null);
  const [checking, setChecking] = useState(false);
  const user = identity.get().user;
  const [unsent, setUnsent] = useState<Fingerprint[]>(() =>
    uploads.get().some((item) => item.kbId === kb.id) ? [] : recallUnsent(user, kb.id),
  );

  const start = useCallback(
    (files: PickedFile[], onDuplicate: OnDuplicate) => {
      if (files.length > 0) uploads.add(kb.id, files, onDuplicate);
      setReport(null);
    },
    [kb.id],
  );

  const offer = useCallback(
    async (picked: PickedFile[]) => {
      if (picked.length === 0) return;
      setChecking(true);
      try {
        const supported = await cache.ensureQueryData(supportedQuery).catch(() => undefined);
        const sorted = triage(picked, supported);
        let duplicates: PickedFile[] = [];
        if (kb.document_count > 0 && kb.document_count <= mostCompared && sorted.accepted.length > 0) {
          const existing = await documents.all(kb.id, {}, mostCompared).catch(() => []);
          duplicates = await findDuplicates(sorted.accepted, existing);
        }
        if (sorted.refused.length === 0 && duplicates.length === 0) start(sorted.accepted, 'keep');
        else setReport({ ...sorted, duplicates });
      } finally {
        setChecking(false);
      }
    },
    [cache, kb.document_count, kb.id, start],
  );

  /** Files chosen again after a reload: what was sent already is left out. */
  const resend = useCallback(
    (picked: PickedFile[]) => {
      const { again } = matchUnsent(picked, unsent);
      setUnsent([]);
      if (again.length > 0) uploads.add(kb.id, again, 'skip');
      else rememberUnsent(user, kb.id, []);
    },
    [kb.id, unsent, user],
  );

  const forgetUnsent = useCallback(() => {
    setUnsent([]);
    rememberUnsent(user, kb.id, []);
  }, [kb.id, user]);

  return { report, closeReport: () => setReport(null), checking, offer, start, unsent, resend, forgetUnsent };
}
