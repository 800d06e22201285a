import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { documents } from '@/api/calls';
import type { KnowledgeBase, KnowledgeDocument } from '@/api/types';
import { uploads } from '@/features/upload/uploads';
import { Confirm } from '@/ui/confirm';
import { formatNumber } from '@/ui/format';
import { errorText } from '@/ui/message';
import { download, type Outcome, type useDocumentActions } from './actions';
import { type ListParams, wireQuery } from './list_query';

const mostSelected = 20_000;

interface BulkOptions {
  kb: KnowledgeBase;
  rows: KnowledgeDocument[];
  params: ListParams;
  total: number;
  actions: ReturnType<typeof useDocumentActions>;
  onProblem: (text: string) => void;
}

export interface Running {
  done: number;
  of: number;
}

export type Bulk = ReturnType<typeof useBulk>;

/** The selection, and what is done to all of it; failures come back as one sentence. */
export function useBulk({ kb, rows, params, total, actions, onProblem }: BulkOptions) {
  const { t } = useTranslation();
  const filter = JSON.stringify([params.q, params.status, params.type]);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [allFor, setAllFor] = useState<string | null>(null);
  const [asked, setAsked] = useState<KnowledgeDocument | 'selection' | null>(null);
  const [running, setRunning] = useState<Running | null>(null);
  const everything = allFor === filter;

  const selected = useMemo(() => (everything ? new Set(rows.map((row) => row.id)) : picked), [everything, rows, picked]);
  const count = everything ? total : picked.size;

  const select = useCallback((id: string, on: boolean) => {
    setAllFor(null);
    setPicked((before) => {
      const after = new Set(before);
      if (on) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);

  const selectPage = useCallback(
    (on: boolean) => {
      setAllFor(null);
      setPicked(new Set(on ? rows.map((row) => row.id) : []));
    },
    [rows],
  );

  const clear = useCallback(() => {
    setAllFor(null);
    setPicked(new Set());
  }, []);

  const idsOfSelection = async () =>
    everything ? (await documents.all(kb.id, wireQuery(params), mostSelected)).map((row) => row.id) : [...picked];

  const run = useCallback(
    async (ids: string[], act: (ids: string[], onProgress: (done: number) => void) => Promise<Outcome>) => {
      onProblem('');
      setRunning({ done: 0, of: ids.length });
      try {
        const { failures } = await act(ids, (done) => setRunning({ done, of: ids.length }));
        if (failures.length > 0)
          onProblem(t('bulk.failures', { count: failures.length, shown: formatNumber(failures.length), reason: failures[0] }));
      } catch (cause) {
        onProblem(errorText(cause));
      } finally {
        setRunning(null);
      }
    },
    [onProblem, t],
  );

  const { remove, reindex } = actions;
  const retry = useCallback((ids: string[]) => run(ids, reindex), [run, reindex]);
  const askRemove = useCallback((document: KnowledgeDocument) => setAsked(document), []);

  const retryAllFailed = async () => {
    uploads.retryFailed(kb.id);
    try {
      onProblem('');
      await documents.reindexFailed(kb.id);
      await actions.refresh();
    } catch (cause) {
      onProblem(errorText(cause));
    }
  };

  const withSelection = async (act: (ids: string[]) => Promise<void>) => {
    try {
      const ids = await idsOfSelection();
      clear();
      await act(ids);
    } catch (cause) {
      onProblem(errorText(cause));
    }
  };

  const confirmed = () => {
    if (asked === 'selection') void withSelection((ids) => run(ids, remove));
    else if (asked) void run([asked.id], remove);
  };

  const many = asked === 'selection' ? count : 1;
  const chunks = asked && asked !== 'selection' ? asked.chunk_count : 0;
  const dialog: ReactNode = (
    <Confirm
      open={asked !== null}
      onClose={() => setAsked(null)}
      onConfirm={confirmed}
      title={
        asked && asked !== 'selection'
          ? t('bulk.deleteOneTitle', { name: asked.filename })
          : t('bulk.deleteTitle', { count: many, shown: formatNumber(many) })
      }
      description={
        asked && asked !== 'selection' ? t('bulk.deleteOneText', { count: chunks, shown: formatNumber(chunks) }) : t('bulk.deleteText')
      }
      verb={t('bulk.deleteVerb', { count: many, shown: formatNumber(many) })}
    />
  );

  return {
    selected,
    count,
    everything,
    running,
    dialog,
    select,
    selectPage,
    clear,
    selectAll: () => setAllFor(filter),
    retry,
    retryAllFailed,
    askRemove,
    askRemoveSelection: () => setAsked('selection'),
    retrySelection: () => withSelection(retry),
    downloadSelection: () =>
      withSelection(async (ids) => {
        for (const id of ids) await download(kb.id, id);
      }),
  };
}
