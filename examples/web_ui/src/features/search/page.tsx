import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { History, Search, SearchX } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { knowledgeBases } from '@/api/calls';
import { serviceUrl } from '@/api/connection';
import { identity } from '@/api/identity';
import { kbQuery } from '@/api/queries';
import { useStore } from '@/api/store';
import type { KnowledgeBase, SearchAnswer, SearchRequest } from '@/api/types';
import { warningText } from '@/features/documents/warnings';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/empty';
import { formatNumber } from '@/ui/format';
import { announce } from '@/ui/live';
import { Loading } from '@/ui/loading';
import { errorText } from '@/ui/message';
import { keepQuery, recentQueries } from './history';
import { filterOf } from './filters';
import { SearchOptions } from './options';
import { standardTopK } from './params';
import { Result } from './result';

export function SearchPage() {
  const { kbId } = useParams({ from: '/kb/$kbId/search' });
  const { data: kb } = useQuery(kbQuery(kbId));
  return kb ? <Playground key={kb.id} kb={kb} /> : <Loading />;
}

function Playground({ kb }: { kb: KnowledgeBase }) {
  const { t } = useTranslation();
  const params = useSearch({ from: '/kb/$kbId/search' });
  const navigate = useNavigate({ from: '/kb/$kbId/search' });
  const { user } = useStore(identity);
  const [typed, setTyped] = useState(params.q ?? '');
  const [seen, setSeen] = useState(params.q);
  const box = useRef<HTMLTextAreaElement>(null);
  if (seen !== params.q) {
    setSeen(params.q);
    setTyped(params.q ?? '');
  }

  const body: SearchRequest | null = useMemo(
    () =>
      params.q
        ? {
            query: params.q,
            top_k: Math.min(params.k ?? standardTopK, 50),
            ...(params.mode ? { mode: params.mode } : {}),
            ...(params.min ? { score_threshold: params.min } : {}),
            ...filterOf(params),
          }
        : null,
    [params],
  );
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['search', kb.id, body],
    queryFn: async ({ signal }) => {
      const started = performance.now();
      const answer = await knowledgeBases.search(kb.id, body ?? { query: '', top_k: 1 }, signal);
      return { ...answer, took_ms: answer.took_ms ?? performance.now() - started };
    },
    enabled: body !== null,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
    placeholderData: body === null ? undefined : keepPreviousData,
    retry: false,
  });

  const search = (query: string) => {
    const next = query.trim();
    if (!next) return;
    keepQuery(user, kb.id, next);
    if (next === params.q) void refetch();
    else void navigate({ search: (before) => ({ ...before, q: next }) });
  };

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

  const found = data?.results.length;
  useEffect(() => {
    if (found !== undefined && !isFetching) announce(t('search.found', { count: found, shown: formatNumber(found) }));
  }, [found, isFetching, t]);

  const shown = body !== null ? data : undefined;
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
          <Button type="submit" variant="primary" busy={isFetching && body !== null} className="min-h-11.5 px-4" icon={<Search size={17} aria-hidden="true" />}>
            <span className="max-sm:sr-only">{t('search.submit')}</span>
          </Button>
        </div>
        <p id="query-hint" className="sr-only">
          {t('search.hint')}
        </p>
        <SearchOptions kb={kb} params={params} onChange={(changes) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })} />
      </form>
      {error && body !== null && (
        <Banner tone="bad" role="alert">
          {errorText(error)}
        </Banner>
      )}
      {shown?.warnings?.map((warning, index) => (
        <Banner key={index} tone="warn">
          {warningText(warning)}
        </Banner>
      ))}
      {body === null ? (
        <Recent queries={recentQueries(user, kb.id)} onPick={search} />
      ) : shown ? (
        <Results kb={kb} answer={shown} query={params.q ?? ''} body={body} threshold={params.min} />
      ) : (
        !error && <Loading />
      )}
    </div>
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

interface ResultsProps {
  kb: KnowledgeBase;
  answer: SearchAnswer;
  query: string;
  body: SearchRequest;
  threshold: number | undefined;
}

function Results({ kb, answer, query, body, threshold }: ResultsProps) {
  const { t } = useTranslation();
  const { results, took_ms: took } = answer;
  if (results.length === 0) {
    const why = kb.status_counts.ready === 0 ? 'noneReady' : threshold ? 'threshold' : 'nothingClose';
    return (
      <EmptyState icon={<SearchX size={24} aria-hidden="true" />} title={t('search.nothing')}>
        {t(`search.${why}`)}
      </EmptyState>
    );
  }
  const best = Math.max(...results.map((hit) => hit.score));
  return (
    <section aria-labelledby="results-title">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 id="results-title" className="text-sm font-semibold">
          {t('search.found', { count: results.length, shown: formatNumber(results.length) })}
        </h2>
        <p className="mr-auto text-[0.8125rem] text-soft">
          {t('search.took', { ms: formatNumber(Math.max(1, took ?? 0)), count: kb.chunk_count, shown: formatNumber(kb.chunk_count) })}
        </p>
        <CopyButton label={t('search.copyJson')} text={() => JSON.stringify(answer, null, 2)} />
        <CopyButton label={t('search.copyCurl')} text={() => asCurl(kb.id, body)} />
      </div>
      <ol className="flex flex-col gap-3">
        {results.map((hit, index) => (
          <Result key={`${hit.document_id}/${hit.chunk.chunk_index}`} hit={hit} rank={index + 1} best={best} kbId={kb.id} query={query} />
        ))}
      </ol>
    </section>
  );
}

function CopyButton({ label, text }: { label: string; text: () => string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button size="sm" variant="ghost" onClick={() => void navigator.clipboard.writeText(text()).then(() => setCopied(true))}>
      {copied ? t('common.copied') : label}
    </Button>
  );
}

function asCurl(kbId: string, body: SearchRequest): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const url = new URL(`knowledge_bases/${kbId}/search`, serviceUrl);
  const { user, token } = identity.get();
  return [
    `curl -X POST ${quote(url.href)}`,
    // A secret is never put where it may be pasted by mistake.
    token === null ? `-H ${quote(`X-User-ID: ${user}`)}` : `-H "Authorization: Bearer $AGENTSCOPE_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}
