import clsx from 'clsx';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SearchHit } from '@/api/types';
import { buttonClass, Button } from '@/ui/button';
import { formatNumber, formatScore } from '@/ui/format';
import { Marked } from '@/ui/marked';
import { excerpt, findTerms, merge, readable, toUtf16 } from './marks';
import { pagesOf, placeOf, textOf } from './place';

const excerptSize = 520;

interface ResultProps {
  hit: SearchHit;
  rank: number;
  best: number;
  kbId: string;
  query: string;
  badge?: ReactNode;
  narrow?: boolean;
}

export function Result({ hit, rank, best, kbId, query, badge, narrow }: ResultProps) {
  const { t } = useTranslation();
  const [whole, setWhole] = useState(false);
  const { chunk } = hit;
  const { text, marks } = useMemo(() => {
    const raw = textOf(chunk);
    return readable(raw, merge(hit.highlights?.length ? toUtf16(raw, hit.highlights) : findTerms(raw, query)));
  }, [hit.highlights, chunk, query]);
  const part = useMemo(() => excerpt(text, marks, whole ? text.length : excerptSize), [text, marks, whole]);
  const place = placeOf(chunk, t);
  const page = pagesOf(chunk)[0];
  const cut = part.cutBefore || part.cutAfter;
  return (
    <li className="rounded-2xl border border-line bg-surface p-4 shadow-card sm:p-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <span className="flex size-6 shrink-0 items-center justify-center rounded-md bg-accent-wash text-xs font-semibold text-accent tabular-nums">
          {formatNumber(rank)}
        </span>
        {badge}
        <h3 className="min-w-0 flex-1 basis-40 truncate text-sm font-semibold" title={chunk.source}>
          {chunk.source}
          {place && <span className="ml-2 font-normal text-soft">{place}</span>}
        </h3>
        <span className="flex items-center gap-2 text-xs text-soft tabular-nums" title={t('search.score')}>
          <meter
            className="h-1.5 w-16"
            min={0}
            max={Math.max(best, 1e-9)}
            value={Math.max(0, hit.score)}
            aria-label={t('search.scoreOf', { score: formatScore(hit.score) })}
          />
          {formatScore(hit.score)}
        </span>
      </div>
      {chunk.content.type === 'text' ? (
        <p dir="auto" className={clsx('mt-2.5 text-sm leading-relaxed whitespace-pre-line', !whole && (narrow ? 'line-clamp-4' : 'line-clamp-6'))}>
          {part.cutBefore && '… '}
          <Marked text={part.text} marks={part.marks} />
          {part.cutAfter && ' …'}
        </p>
      ) : (
        <p className="mt-2.5 text-sm text-soft">{t('viewer.notText')}</p>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2">
        <Link
          to="/kb/$kbId/doc/$documentId"
          params={{ kbId, documentId: hit.document_id }}
          search={{ chunk: chunk.chunk_index, page, q: query }}
          className={buttonClass('secondary', 'sm')}
        >
          {place ? t('search.openAt', { place }) : t('search.open')}
          <ArrowUpRight size={14} aria-hidden="true" />
        </Link>
        {(cut || whole) && (
          <Button size="sm" variant="ghost" onClick={() => setWhole(!whole)}>
            {whole ? t('search.less') : t('search.more')}
          </Button>
        )}
        <span className="ml-auto flex flex-wrap gap-x-3 text-xs text-soft tabular-nums">
          {hit.vector && <span>{t('search.vectorRank', { rank: formatNumber(hit.vector.rank), score: formatScore(hit.vector.score) })}</span>}
          {hit.rerank && <span>{t('search.rerankRank', { rank: formatNumber(hit.rerank.rank), score: formatScore(hit.rerank.score) })}</span>}
          {hit.keyword && <span>{t('search.keywordRank', { rank: formatNumber(hit.keyword.rank), score: formatScore(hit.keyword.score) })}</span>}
        </span>
      </div>
    </li>
  );
}
