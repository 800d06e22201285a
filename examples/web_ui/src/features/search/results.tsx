import { SearchX } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serviceUrl } from '@/api/connection';
import { identity } from '@/api/identity';
import type { KnowledgeBase, SearchAnswer, SearchRequest } from '@/api/types';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/empty';
import { formatNumber } from '@/ui/format';
import { Result } from './result';
import { hitKey } from './run';

interface ResultsProps {
  kb: KnowledgeBase;
  answer: SearchAnswer;
  query: string;
  body: SearchRequest;
  title?: string;
  /** What stands beside a result's rank: how it moved. */
  badge?: (key: string, rank: number) => ReactNode;
  narrow?: boolean;
}

/** Up and Down go from result to result. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a')];
  const here = links.findIndex((link) => link.closest('li')?.contains(document.activeElement));
  const next = links[here + step];
  if (here < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

export function Results({ kb, answer, query, body, title, badge, narrow }: ResultsProps) {
  const { t } = useTranslation();
  const { results, took_ms: took } = answer;
  const found = t('search.found', { count: results.length, shown: formatNumber(results.length) });
  if (results.length === 0) {
    const limited = Boolean(body.metadata_filter ?? body.content_types ?? body.document_ids);
    const why = kb.status_counts.ready === 0 ? 'noneReady' : body.score_threshold ? 'threshold' : limited ? 'filtered' : 'nothingClose';
    return (
      <EmptyState icon={<SearchX size={24} aria-hidden="true" />} title={t('search.nothing')}>
        {t(`search.${why}`)}
      </EmptyState>
    );
  }
  const best = Math.max(...results.map((hit) => hit.score));
  return (
    <section aria-label={title ?? found}>
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="text-sm font-semibold">{found}</h2>
        <p className="mr-auto text-[0.8125rem] text-soft">
          {t('search.took', { ms: formatNumber(Math.max(1, took ?? 0)), count: kb.chunk_count, shown: formatNumber(kb.chunk_count) })}
        </p>
        {!narrow && <CopyButton label={t('search.copyJson')} text={() => JSON.stringify(answer, null, 2)} />}
        <CopyButton label={t('search.copyCurl')} text={() => asCurl(kb.id, body)} />
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys move the focus between its links */}
      <ol className="flex flex-col gap-3" onKeyDown={walk}>
        {results.map((hit, index) => (
          <Result
            key={hitKey(hit)}
            hit={hit}
            rank={index + 1}
            best={best}
            kbId={kb.id}
            query={query}
            badge={badge?.(hitKey(hit), index + 1)}
            narrow={narrow}
          />
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
