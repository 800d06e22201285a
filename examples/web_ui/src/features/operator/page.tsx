import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Pause as PauseIcon, Play, RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/errors';
import { operator, operatorKey } from '@/api/operator';
import type { Overview, Pause, PauseTarget } from '@/api/types';
import { LoadFailed } from '@/features/shell/problems';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { formatAgo, formatNumber, formatSeconds, formatTime } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { codeText, errorText } from '@/ui/message';
import { OperatorKeyForm } from './key_form';
import { PauseDialog } from './pause_dialog';

const card = 'rounded-2xl border border-line bg-surface p-5 shadow-card';
const overviewKey = ['operator', 'overview'];
const everyMs = 5000;

/** The state of indexing over all users, for whoever runs the service. */
export function OperatorPage() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: overviewKey,
    queryFn: operator.overview,
    retry: false,
    refetchInterval: ({ state }) => (state.error ? false : everyMs),
  });
  const [pausing, setPausing] = useState(false);
  const [problem, setProblem] = useState('');
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState('');

  const act = async (name: string, what: () => Promise<unknown>) => {
    setBusy(name);
    setProblem('');
    setNote('');
    try {
      await what();
    } catch (cause) {
      setProblem(errorText(cause));
    } finally {
      setBusy('');
      await cache.invalidateQueries({ queryKey: overviewKey });
    }
  };
  const retry = (code: string | null) =>
    act(code ?? 'all', async () => {
      const told = (count: number) => setNote(t('operator.retried', { count, shown: formatNumber(count) }));
      told(await operator.retry(code, told));
    });

  let body: ReactNode;
  if (error instanceof ApiError && error.status === 401)
    body = (
      <OperatorKeyForm
        wrong={operatorKey.get() !== null}
        onKey={(key) => {
          operatorKey.set(key);
          void cache.resetQueries({ queryKey: overviewKey });
        }}
      />
    );
  else if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  else if (!data) body = <Loading />;
  else
    body = (
      <>
        {problem && (
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        )}
        <p role="status" className="text-sm text-soft empty:hidden">
          {note}
        </p>
        <Figures overview={data} />
        <div className="grid gap-4 lg:grid-cols-2">
          <Failures overview={data} busy={busy} onRetry={(code) => void retry(code)} />
          <Paused
            paused={data.paused}
            onPause={() => setPausing(true)}
            onResume={(target) => void act('resume', () => operator.resume(target))}
          />
          <Workers overview={data} />
          <Waiting overview={data} />
        </div>
      </>
    );
  return (
    <div className="flex flex-1 flex-col gap-4">
      <title>{t('nav.operator')}</title>
      <div className="mb-1 flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h1 className="text-2xl font-semibold tracking-tight">{t('nav.operator')}</h1>
          <p className="mt-1 text-sm text-soft">{t('operator.intro')}</p>
        </div>
        {data && !error && operatorKey.get() !== null && (
          <Button
            variant="ghost"
            onClick={() => {
              operatorKey.set(null);
              void cache.resetQueries({ queryKey: overviewKey });
            }}
          >
            {t('operator.forget')}
          </Button>
        )}
      </div>
      {body}
      {pausing && (
        <PauseDialog
          onClose={() => setPausing(false)}
          onPause={(target) => {
            setPausing(false);
            void act('pause', () => operator.pause(target));
          }}
        />
      )}
    </div>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { t } = useTranslation();
  const { queue, workers, failures } = overview;
  const figures: [string, string][] = [
    [t('operator.waiting'), formatNumber(queue.documents)],
    [t('operator.running'), formatNumber(queue.running)],
    [t('operator.oldest'), queue.documents > 0 ? formatSeconds(queue.oldest_due_seconds) : '–'],
    [t('operator.users'), formatNumber(queue.tenants)],
    [t('operator.workers'), formatNumber(workers.length)],
    [t('operator.failed'), formatNumber(failures.total)],
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {figures.map(([label, value]) => (
        <div key={label} className="flex flex-col-reverse justify-end rounded-2xl border border-line bg-surface px-4 py-3 shadow-card">
          <dt className="text-[0.8125rem] text-soft">{label}</dt>
          <dd className="text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface SectionProps {
  title: string;
  action?: ReactNode;
  empty?: string;
  children?: ReactNode;
}

function Section({ title, action, empty, children }: SectionProps) {
  return (
    <section className={card} aria-label={title}>
      <div className="mb-2 flex min-h-8 flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {action}
      </div>
      {empty ? <p className="text-sm text-soft">{empty}</p> : children}
    </section>
  );
}

function Failures({ overview, busy, onRetry }: { overview: Overview; busy: string; onRetry: (code: string | null) => void }) {
  const { t } = useTranslation();
  const { failures } = overview;
  const codes = Object.entries(failures.by_code).sort((a, b) => b[1] - a[1]);
  return (
    <Section
      title={t('operator.failures')}
      empty={failures.total === 0 ? t('operator.noFailures') : undefined}
      action={
        failures.total > 0 && (
          <Button size="sm" busy={busy === 'all'} icon={<RotateCw size={14} aria-hidden="true" />} onClick={() => onRetry(null)}>
            {t('operator.retryAll')}
          </Button>
        )
      }
    >
      <ul className="flex flex-col divide-y divide-line">
        {codes.map(([code, count]) => (
          <li key={code} className="flex items-center gap-3 py-2">
            <span className="min-w-6 font-semibold tabular-nums">{formatNumber(count)}</span>
            <span className="min-w-0 flex-1 text-sm">
              {codeText(code, code)}
              <span className="block text-xs text-soft">{code}</span>
            </span>
            <Button size="sm" variant="ghost" busy={busy === code} aria-label={t('operator.retryCode', { code })} onClick={() => onRetry(code)}>
              {t('common.retry')}
            </Button>
          </li>
        ))}
      </ul>
      {!failures.complete && <p className="mt-2 text-xs text-soft">{t('operator.incomplete')}</p>}
    </Section>
  );
}

interface PausedProps {
  paused: Pause[];
  onPause: () => void;
  onResume: (target: PauseTarget) => void;
}

function Paused({ paused, onPause, onResume }: PausedProps) {
  const { t } = useTranslation();
  return (
    <Section
      title={t('operator.paused')}
      empty={paused.length === 0 ? t('operator.nothingPaused') : undefined}
      action={
        <Button size="sm" icon={<PauseIcon size={14} aria-hidden="true" />} onClick={onPause}>
          {t('operator.pause')}
        </Button>
      }
    >
      <ul className="flex flex-col divide-y divide-line">
        {paused.map(({ kind, id, reason, at }) => (
          <li key={`${kind}/${id}`} className="flex items-center gap-3 py-2">
            <span className="min-w-0 flex-1 text-sm">
              <span className="text-soft">{t(`operator.kind_${kind}`)}</span> {id}
              <span className="block text-xs text-soft">{[reason, formatTime(at)].filter(Boolean).join(' · ')}</span>
            </span>
            <Button
              size="sm"
              icon={<Play size={14} aria-hidden="true" />}
              aria-label={t('operator.resumeOf', { id })}
              onClick={() => onResume(kind === 'tenant' ? { user_id: id } : { knowledge_base_id: id })}
            >
              {t('operator.resume')}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const headCell = 'py-1 pr-3 text-left text-xs font-medium text-soft last:pr-0 last:text-right';
const cell = 'py-1.5 pr-3 text-left align-top font-normal last:pr-0 last:text-right';

function Table({ label, head, rows }: { label: string; head: string[]; rows: ReactNode[][] }) {
  return (
    <table className="w-full text-sm tabular-nums">
      <caption className="sr-only">{label}</caption>
      <thead>
        <tr>
          {head.map((text) => (
            <th key={text} scope="col" className={headCell}>
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...others], index) => (
          <tr key={index} className="border-t border-line">
            <th scope="row" className={cell}>
              {first}
            </th>
            {others.map((value, place) => (
              <td key={place} className={cell}>
                {value}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Workers({ overview: { workers } }: { overview: Overview }) {
  const { t } = useTranslation();
  const rows = workers.map(({ host, node_id: node, version, state, running, slots, seen_at: seen }) => [
    <span key="name">
      {host ?? node}
      <span className="block text-xs text-soft">{version}</span>
    </span>,
    state,
    `${formatNumber(running)} / ${formatNumber(slots)}`,
    seen ? formatAgo(seen) : '–',
  ]);
  const head = [t('operator.worker'), t('table.state'), t('operator.slots'), t('operator.seen')];
  return (
    <Section title={t('operator.workers')} empty={workers.length === 0 ? t('operator.noWorkers') : undefined}>
      <Table label={t('operator.workers')} head={head} rows={rows} />
    </Section>
  );
}

function Waiting({ overview: { queue } }: { overview: Overview }) {
  const { t } = useTranslation();
  const rows = queue.top.map((user) => [
    user.user_id,
    formatNumber(user.documents),
    formatNumber(user.running),
    formatSeconds(user.oldest_due_seconds),
  ]);
  const head = [t('operator.user'), t('operator.waiting'), t('operator.running'), t('operator.oldest')];
  return (
    <Section title={t('operator.queue')} empty={rows.length === 0 ? t('operator.nothingWaits') : undefined}>
      <Table label={t('operator.queue')} head={head} rows={rows} />
    </Section>
  );
}
