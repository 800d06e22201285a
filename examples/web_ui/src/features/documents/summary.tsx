import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type KnowledgeBase, movingCount } from '@/api/types';
import type { UploadItem } from '@/features/upload/queue';
import { formatNumber } from '@/ui/format';
import { announce } from '@/ui/live';
import { secondsLeft } from './polling';

export interface Totals {
  total: number;
  ready: number;
  working: number;
  failed: number;
  unsent: number;
}

/** One truth for the header: what the service counted, plus what has not reached it (or those counts) yet. */
export function totalsOf(kb: KnowledgeBase, countedAt: number, items: readonly UploadItem[]): Totals {
  const unsent = items.filter(({ state }) => state === 'waiting' || state === 'sending').length;
  const notCounted = items.filter(({ state, sentAt, stored }) => state === 'sent' && stored && sentAt > countedAt).length;
  const notSent = items.filter(({ state }) => state === 'failed').length;
  const working = movingCount(kb.status_counts) + unsent + notCounted;
  const ready = kb.status_counts.ready;
  const failed = kb.status_counts.error + notSent;
  return { total: ready + working + failed, ready, working, failed, unsent };
}

interface SummaryProps {
  totals: Totals;
  actions: React.ReactNode;
  notUpdating: boolean;
}

export function SummaryBar({ totals, actions, notUpdating }: SummaryProps) {
  const { t } = useTranslation();
  const { total, ready, working, failed } = totals;
  const left = useTimeLeft(totals);
  const shown = { total: formatNumber(total), ready: formatNumber(ready), working: formatNumber(working), failed: formatNumber(failed) };
  const parts = [
    t('summary.ready', { count: total, ...shown }),
    working > 0 ? t('summary.working', { count: working, ...shown }) : '',
    failed > 0 ? t('summary.failed', { count: failed, ...shown }) : '',
  ].filter(Boolean);
  const sentence = parts.join(' · ');
  useEffect(() => announce(sentence), [sentence]);

  return (
    <section aria-label={t('summary.title')} className="rounded-2xl border border-line bg-surface px-4 py-3 shadow-card">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-60 text-sm font-medium tabular-nums" data-testid="summary">
          {sentence}
          {left !== null && working > 0 && ' '}
          {left !== null && working > 0 && (
            <span className="ml-2 font-normal text-soft">
              {left < 60 ? t('summary.underAMinute') : t('summary.minutesLeft', { count: Math.round(left / 60) })}
            </span>
          )}
          {notUpdating && <span className="ml-2 font-normal text-warn">{t('summary.notUpdating')}</span>}
        </p>
        <div className="flex flex-wrap gap-2">{actions}</div>
      </div>
      {working > 0 && <progress className="mt-2.5 w-full" max={total} value={ready + failed} aria-label={t('summary.title')} />}
    </section>
  );
}

/** Seconds until the current batch is through, measured from when it began to move. */
function useTimeLeft({ total, ready, working, failed }: Totals): number | null {
  const batch = useRef<{ startedAt: number; final: number } | null>(null);
  const [left, setLeft] = useState<number | null>(null);
  useEffect(() => {
    const final = ready + failed;
    if (working === 0) {
      batch.current = null;
      return;
    }
    batch.current ??= { startedAt: Date.now(), final };
    const { startedAt, final: before } = batch.current;
    const share = total > before ? (final - before) / (total - before) : 0;
    setLeft(secondsLeft(share, { startedAt, startedShare: 0 }, Date.now()));
  }, [total, ready, working, failed]);
  return left;
}
