import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { limitsQuery } from '@/api/queries';
import type { Limits, Quota } from '@/api/types';
import { LoadFailed } from '@/features/shell/problems';
import { formatBytes, formatNumber } from '@/ui/format';
import { Loading } from '@/ui/loading';

const card = 'rounded-2xl border border-line bg-surface p-5 shadow-card';
const quotas = ['knowledge_bases', 'documents', 'stored_bytes', 'pending'] as const;
const rates = ['requests_per_minute', 'searches_per_minute', 'searches_at_once'] as const;
const nearly = 0.9;

/** What this user holds and may hold. */
export function UsagePage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(limitsQuery);
  if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <div className="flex max-w-3xl flex-col gap-5">
      <title>{t('nav.usage')}</title>
      <div>
        <h1 className="text-2xl font-semibold tracking-tight">{t('nav.usage')}</h1>
        <p className="mt-1 text-sm text-soft">{t('usage.intro')}</p>
      </div>
      <section className={card} aria-label={t('usage.quotas')}>
        <h2 className="font-semibold">{t('usage.quotas')}</h2>
        <ul className="mt-3 flex flex-col gap-4">
          {quotas.map((name) => (
            <QuotaLine key={name} label={t(`usage.${name}`)} quota={data.quotas[name]} bytes={name === 'stored_bytes'} />
          ))}
        </ul>
      </section>
      <Rates rates={data.rates} />
    </div>
  );
}

function QuotaLine({ label, quota: { used, limit }, bytes }: { label: string; quota: Quota; bytes: boolean }) {
  const { t } = useTranslation();
  const shown = (value: number) => (bytes ? formatBytes(value) : formatNumber(value));
  const full = used !== null && limit !== null && used >= limit * nearly;
  const text =
    used === null ? t('usage.hidden') : limit === null ? t('usage.unlimited', { used: shown(used) }) : t('usage.of', { used: shown(used), limit: shown(limit) });
  return (
    <li>
      <p className="flex flex-wrap justify-between gap-x-4 text-sm">
        <span>{label}</span>
        <span className={full ? 'font-medium text-warn tabular-nums' : 'text-soft tabular-nums'}>{text}</span>
      </p>
      {used !== null && limit !== null && (
        <meter className="mt-1.5 h-2 w-full" min={0} max={Math.max(1, limit)} value={Math.min(used, limit)} aria-label={label} />
      )}
    </li>
  );
}

function Rates({ rates: given }: { rates: Limits['rates'] }) {
  const { t } = useTranslation();
  return (
    <section className={card} aria-label={t('usage.rates')}>
      <h2 className="font-semibold">{t('usage.rates')}</h2>
      <dl className="mt-3 grid grid-cols-[1fr_auto] gap-x-6 gap-y-2 text-sm">
        {rates.map((name) => {
          const limit = given[name];
          return (
            <div key={name} className="contents">
              <dt>{t(`usage.${name}`)}</dt>
              <dd className="text-right text-soft tabular-nums">{limit === null ? t('usage.noLimit') : formatNumber(limit)}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
