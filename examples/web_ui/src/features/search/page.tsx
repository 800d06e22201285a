import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Columns2, History, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { identity } from '@/api/identity';
import { kbQuery } from '@/api/queries';
import { useStore } from '@/api/store';
import type { KnowledgeBase } from '@/api/types';
import { warningText } from '@/features/documents/warnings';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/empty';
import { Checkbox, Field, Input } from '@/ui/field';
import { formatNumber } from '@/ui/format';
import { announce } from '@/ui/live';
import { Loading } from '@/ui/loading';
import { errorText } from '@/ui/message';
import { keepQuery, recentQueries } from './history';
import { SearchOptions } from './options';
import { Results } from './results';
import { fieldsOf, useSearchRun } from './run';
import { otherMode, paramsOf, requestOf, type SearchParams, settingsOf } from './settings';

const Compare = lazy(() => import('./compare').then((module) => ({ default: module.Compare })));

export function SearchPage() {
  const { kbId } = useParams({ from: '/kb/$kbId/search' });
  const { data: kb } = useQuery(kbQuery(kbId));
  return kb ? <Playground key={kb.id} kb={kb} /> : <Loading />;
}

function Playground({ kb }: { kb: KnowledgeBase }) {
  const { t } = useTranslation();
  const params: SearchParams = useSearch({ from: '/kb/$kbId/search' });
  const navigate = useNavigate({ from: '/kb/$kbId/search' });
  const { user } = useStore(identity);
  const comparing = params.compare === '1';
  const [typed, setTyped] = useState(params.q ?? '');
  const [seen, setSeen] = useState(params.q);
  const box = useRef<HTMLTextAreaElement>(null);
  if (seen !== params.q) {
    setSeen(params.q);
    setTyped(params.q ?? '');
  }

  const sides = useMemo(() => {
    const { q, bq = q, doc } = params;
    const left = settingsOf(params, 'a');
    const right = settingsOf(params, 'b');
    return {
      left,
      right,
      leftBody: q ? requestOf(q, left, doc) : null,
      rightBody: q && bq && comparing ? requestOf(bq, right, doc) : null,
    };
  }, [params, comparing]);
  const { leftBody, rightBody } = sides;
  const { data, error, isFetching, refetch } = useSearchRun(kb.id, leftBody);
  const other = useSearchRun(kb.id, rightBody);
  const fields = useMemo(() => fieldsOf(data, other.data), [data, other.data]);

  const change = (changes: Partial<SearchParams>) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  const search = (query: string) => {
    const next = query.trim();
    if (!next) return;
    keepQuery(user, kb.id, next);
    if (next === params.q) void refetch();
    else void navigate({ search: (before) => ({ ...before, q: next }) });
  };
  const compare = () =>
    change(
      comparing
        ? { compare: undefined, bq: undefined, ...paramsOf({}, 'b') }
        : { compare: '1', ...paramsOf({ ...sides.left, mode: otherMode(kb, sides.left) }, 'b') },
    );

  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      box.current?.focus();
      box.current?.select();
    };
    window.addEventListener('keydown', focus);
    return () => window.removeEventListener('keydown', focus);
  }, []);

  // An empty page is for typing.
  useEffect(() => {
    if (!params.q) box.current?.focus();
    // Only on arrival.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const found = data?.results.length;
  useEffect(() => {
    if (found !== undefined && !isFetching) announce(t('search.found', { count: found, shown: formatNumber(found) }));
  }, [found, isFetching, t]);

  const options = (side: 'left' | 'right') => (
    <SearchOptions
      kb={kb}
      settings={sides[side]}
      fields={fields}
      narrow={comparing}
      modeLabel={comparing ? t(`compare.${side}Mode`) : undefined}
      onChange={(settings) => change(paramsOf(settings, side === 'left' ? 'a' : 'b'))}
    >
      {side === 'right' && (
        <OtherWords key={params.bq} words={params.bq} onChange={(bq) => change({ bq: bq || undefined })} />
      )}
    </SearchOptions>
  );

  const shown = leftBody ? data : undefined;
  return (
    <div className="flex flex-col gap-4">
      <title>{`${t('kb.tabSearch')} · ${kb.name}`}</title>
      <form
        role="search"
        className="flex flex-col gap-3 rounded-2xl border border-line bg-surface p-3 shadow-card sm:p-4"
        onSubmit={(event) => {
          event.preventDefault();
          search(typed);
        }}
      >
        <div className="flex items-end gap-2">
          <div className="relative min-w-0 flex-1">
            <label htmlFor="query" className="sr-only">
              {t('search.label')}
            </label>
            <textarea
              id="query"
              ref={box}
              rows={Math.min(4, typed.split('\n').length)}
              value={typed}
              placeholder={t('search.placeholder')}
              aria-describedby="query-hint"
              className="block w-full resize-none rounded-xl border border-line-strong/70 bg-surface px-4 py-2.5 text-base placeholder:text-soft"
              onChange={(event) => setTyped(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
                event.preventDefault();
                search(typed);
              }}
            />
          </div>
          <Button
            type="submit"
            variant="primary"
            busy={isFetching && leftBody !== null}
            className="min-h-11.5 px-4"
            icon={<Search size={17} aria-hidden="true" />}
          >
            <span className="max-sm:sr-only">{t('search.submit')}</span>
          </Button>
        </div>
        <p id="query-hint" className="sr-only">
          {t('search.hint')}
        </p>
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
          <div className="min-w-0 flex-1">{!comparing && options('left')}</div>
          <Button
            size="sm"
            variant="ghost"
            aria-pressed={comparing}
            className="aria-pressed:bg-accent-wash aria-pressed:text-accent"
            icon={<Columns2 size={15} aria-hidden="true" />}
            onClick={compare}
          >
            {t('compare.button')}
          </Button>
        </div>
        {params.doc && (
          <label className="flex min-h-8 items-center gap-2.5 text-sm font-medium">
            <Checkbox checked onChange={() => change({ doc: undefined })} />
            {t('search.inDocument')}
          </label>
        )}
      </form>
      {error && leftBody !== null && !comparing && (
        <Banner tone="bad" role="alert">
          {errorText(error)}
        </Banner>
      )}
      {shown?.warnings?.map((warning, index) => (
        <Banner key={index} tone="warn">
          {warningText(warning)}
        </Banner>
      ))}
      {comparing ? (
        <Suspense fallback={<Loading />}>
          <Compare
            kb={kb}
            left={leftBody && { answer: data, error, body: leftBody, query: params.q ?? '' }}
            right={rightBody && { answer: other.data, error: other.error, body: rightBody, query: params.bq ?? params.q ?? '' }}
            leftOptions={options('left')}
            rightOptions={options('right')}
          />
        </Suspense>
      ) : leftBody === null ? (
        <Recent queries={recentQueries(user, kb.id)} onPick={search} />
      ) : shown ? (
        <Results kb={kb} answer={shown} query={params.q ?? ''} body={leftBody} />
      ) : (
        !error && <Loading />
      )}
    </div>
  );
}

/** Other words for the right side; empty: the same. */
function OtherWords({ words = '', onChange }: { words?: string; onChange: (words: string) => void }) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(words);
  const commit = () => {
    if (typed.trim() !== words) onChange(typed.trim());
  };
  return (
    <Field label={t('compare.words')} optional={t('common.optional')}>
      {(ids) => (
        <Input
          {...ids}
          value={typed}
          placeholder={t('compare.sameWords')}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === 'Enter' && commit()}
        />
      )}
    </Field>
  );
}

function Recent({ queries, onPick }: { queries: string[]; onPick: (query: string) => void }) {
  const { t } = useTranslation();
  if (queries.length === 0)
    return (
      <EmptyState icon={<Search size={24} aria-hidden="true" />} title={t('search.emptyTitle')}>
        {t('search.emptyText')}
      </EmptyState>
    );
  return (
    <section aria-labelledby="recent-title">
      <h2 id="recent-title" className="mb-2 text-sm font-semibold">
        {t('search.recent')}
      </h2>
      <ul className="flex flex-col">
        {queries.map((query) => (
          <li key={query}>
            <button
              type="button"
              className="flex min-h-8 w-full items-center gap-2.5 rounded-lg px-2 text-left text-sm hover:bg-surface"
              onClick={() => onPick(query)}
            >
              <History size={15} aria-hidden="true" className="shrink-0 text-soft" />
              <span className="min-w-0 truncate">{query}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
