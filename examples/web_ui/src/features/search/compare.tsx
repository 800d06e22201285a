import clsx from 'clsx';
import { ArrowDown, ArrowUp, Equal, Sparkles } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { KnowledgeBase, SearchAnswer, SearchRequest } from '@/api/types';
import { Banner } from '@/ui/banner';
import { formatNumber } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { errorText } from '@/ui/message';
import { Results } from './results';
import { ranksOf } from './run';

export interface Side {
  answer: SearchAnswer | undefined;
  error: unknown;
  body: SearchRequest;
  query: string;
}

interface CompareProps {
  kb: KnowledgeBase;
  /** Null as long as nothing was asked. */
  left: Side | null;
  right: Side | null;
  leftOptions: ReactNode;
  rightOptions: ReactNode;
}

/** Two searches beside each other; each result tells where the other side has it. */
export function Compare({ kb, left, right, leftOptions, rightOptions }: CompareProps) {
  const { t } = useTranslation();
  const ranks = { left: ranksOf(left?.answer), right: ranksOf(right?.answer) };
  const both = [...ranks.left.keys()].filter((key) => ranks.right.has(key)).length;
  const ready = left?.answer && right?.answer;
  return (
    <div className="flex flex-col gap-3">
      {ready && (
        <p role="status" className="text-[0.8125rem] text-soft">
          {t('compare.summary', {
            both: formatNumber(both),
            left: formatNumber(ranks.left.size - both),
            right: formatNumber(ranks.right.size - both),
          })}
        </p>
      )}
      <div className="grid gap-x-5 gap-y-6 lg:grid-cols-2">
        <Column name={t('compare.left')} options={leftOptions} side={left} kb={kb} others={right?.answer ? ranks.right : null} />
        <Column name={t('compare.right')} options={rightOptions} side={right} kb={kb} others={left?.answer ? ranks.left : null} moved />
      </div>
    </div>
  );
}

interface ColumnProps {
  name: string;
  options: ReactNode;
  side: Side | null;
  kb: KnowledgeBase;
  /** Ranks on the other side; null while they are not known. */
  others: ReadonlyMap<string, number> | null;
  moved?: boolean;
}

function Column({ name, options, side, kb, others, moved }: ColumnProps) {
  return (
    <div role="group" className="flex min-w-0 flex-col gap-3" aria-label={name}>
      <div className="flex flex-col gap-2 rounded-2xl border border-line bg-surface p-3 shadow-card sm:p-4">{options}</div>
      {side === null ? null : side.error ? (
        <Banner tone="bad" role="alert">
          {errorText(side.error)}
        </Banner>
      ) : side.answer ? (
        <Results
          kb={kb}
          answer={side.answer}
          query={side.query}
          body={side.body}
          title={name}
          narrow
          badge={(key, rank) => others && <Movement rank={rank} other={others.get(key)} moved={moved} />}
        />
      ) : (
        <Loading />
      )}
    </div>
  );
}

const icon = { size: 13, 'aria-hidden': true } as const;

/** On the left: whether the other side has it. On the right: how far it went up or down. */
function Movement({ rank, other, moved }: { rank: number; other: number | undefined; moved?: boolean }) {
  const { t } = useTranslation();
  const steps = other === undefined ? 0 : other - rank;
  const look = 'inline-flex shrink-0 items-center gap-1 rounded-md px-1.5 py-0.5 text-xs font-medium tabular-nums';
  if (other === undefined)
    return (
      <span className={clsx(look, 'bg-accent-wash text-accent')}>
        <Sparkles {...icon} />
        {t(moved ? 'compare.onlyRight' : 'compare.onlyLeft')}
      </span>
    );
  if (steps === 0)
    return (
      <span className={clsx(look, 'bg-sunken text-soft')}>
        <Equal {...icon} />
        <span className="sr-only">{t('compare.same')}</span>
      </span>
    );
  if (!moved)
    return <span className={clsx(look, 'bg-sunken text-soft')}>{t('compare.there', { rank: formatNumber(other) })}</span>;
  return (
    <span className={clsx(look, steps > 0 ? 'bg-good-wash text-good' : 'bg-warn-wash text-warn')}>
      {steps > 0 ? <ArrowUp {...icon} /> : <ArrowDown {...icon} />}
      <span className="sr-only">{t(steps > 0 ? 'compare.up' : 'compare.down')}</span>
      {formatNumber(Math.abs(steps))}
    </span>
  );
}
