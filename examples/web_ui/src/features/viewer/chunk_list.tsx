import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { Search } from 'lucide-react';
import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Chunk } from '@/api/types';
import { findTerms, merge, type Range, readable } from '@/features/search/marks';
import { pagesOf, placeOf, textOf } from '@/features/search/place';
import { Input } from '@/ui/field';
import { formatNumber } from '@/ui/format';
import { Marked } from '@/ui/marked';

interface ChunkListProps {
  chunks: Chunk[];
  total: number;
  current: number | undefined;
  query: string | undefined;
  kbId: string;
  documentId: string;
}

export function ChunkList({ chunks, total, current, query, kbId, documentId }: ChunkListProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const wanted = useDeferredValue(typed.trim().toLowerCase());
  const list = useRef<HTMLOListElement>(null);
  const shown = useMemo(
    () => (wanted === '' ? chunks : chunks.filter((chunk) => textOf(chunk).toLowerCase().includes(wanted))),
    [chunks, wanted],
  );
  const loaded = chunks.some((chunk) => chunk.chunk_index === current);

  useEffect(() => {
    const element = list.current?.querySelector<HTMLElement>('[aria-current="true"]');
    const pane = element?.closest<HTMLElement>('[data-pane]');
    if (element && pane) pane.scrollTop += element.getBoundingClientRect().top - pane.getBoundingClientRect().top - 64;
  }, [current, loaded]);

  return (
    <>
      <div className="sticky top-0 z-10 -mx-1 bg-surface px-1 pb-3">
        <div className="relative">
          <Search size={16} aria-hidden="true" className="pointer-events-none absolute top-2.5 left-3 text-soft" />
          <Input
            type="search"
            className="pl-9"
            value={typed}
            aria-label={t('viewer.searchChunks')}
            placeholder={t('viewer.searchChunks')}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <p className="mt-1.5 text-xs text-soft">
          {wanted === ''
            ? t('kb.chunks', { count: total, shown: formatNumber(total) })
            : t('viewer.chunksFound', { shown: formatNumber(shown.length), total: formatNumber(chunks.length) })}
        </p>
      </div>
      <ol ref={list} className="flex flex-col gap-2">
        {shown.map((chunk) => (
          <ChunkCard
            key={chunk.chunk_index}
            chunk={chunk}
            current={chunk.chunk_index === current}
            words={wanted || (chunk.chunk_index === current ? query : undefined)}
            keep={query}
            kbId={kbId}
            documentId={documentId}
          />
        ))}
      </ol>
    </>
  );
}

interface ChunkCardProps {
  chunk: Chunk;
  current: boolean;
  words: string | undefined;
  keep: string | undefined;
  kbId: string;
  documentId: string;
}

const ChunkCard = memo(function ChunkCard({ chunk, current, words, keep, kbId, documentId }: ChunkCardProps) {
  const { t } = useTranslation();
  const raw = textOf(chunk);
  const { text } = readable(raw);
  const place = placeOf(chunk, t);
  const marks: Range[] = words ? merge(findTerms(text, words)) : [];
  return (
    <li
      aria-current={current || undefined}
      className={clsx(
        'row-lazy relative rounded-xl border p-3',
        current ? 'border-accent bg-accent-wash/60' : 'border-line hover:border-line-strong/70',
      )}
    >
      <p className="flex flex-wrap gap-x-3 text-xs text-soft">
        <Link
          to="/kb/$kbId/doc/$documentId"
          params={{ kbId, documentId }}
          search={{ chunk: chunk.chunk_index, page: pagesOf(chunk)[0], q: keep }}
          replace
          className="rounded font-semibold text-accent after:absolute after:inset-0 after:rounded-xl"
        >
          {t('viewer.chunk', { shown: formatNumber(chunk.chunk_index + 1) })}
        </Link>
        {place && <span>{place}</span>}
        <span>{t('viewer.characters', { count: raw.length, shown: formatNumber(raw.length) })}</span>
      </p>
      <p dir="auto" className="mt-1 line-clamp-8 text-[0.8125rem] leading-relaxed whitespace-pre-line">
        {text ? <Marked text={text} marks={marks} /> : t('viewer.notText')}
      </p>
    </li>
  );
});
