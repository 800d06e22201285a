import { useQuery, useQueryClient } from '@tanstack/react-query';
import { KeySquare, Plus, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import clsx from 'clsx';
import { apiKeys } from '@/api/calls';
import { identity, renewToken } from '@/api/identity';
import { apiKeysQuery, identityQuery, kbsQuery, keys } from '@/api/queries';
import { useStore } from '@/api/store';
import type { ApiKey, KnowledgeBase } from '@/api/types';
import { LoadFailed } from '@/features/shell/problems';
import { Banner } from '@/ui/banner';
import { Button, IconButton } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { EmptyState } from '@/ui/empty';
import { formatAgo, formatTime, parseTime } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { errorText } from '@/ui/message';
import { KeyText } from './key_text';
import { NewKeyDialog } from './new_key_dialog';

const soonMs = 7 * 86_400_000;

/** Whether this browser presents that very key. */
const isInUse = (key: ApiKey, token: string | null) => token?.startsWith(`rag_${key.id}_`) ?? false;

export function KeysPage() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { token } = useStore(identity);
  const { data, error, refetch } = useQuery(apiKeysQuery);
  const { data: who } = useQuery(identityQuery);
  const { data: kbs = [] } = useQuery(kbsQuery);
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState<{ name: string; key: string } | null>(null);
  const [asked, setAsked] = useState<{ key: ApiKey; what: 'rotate' | 'revoke' } | null>(null);
  const [problem, setProblem] = useState('');

  const refresh = () => cache.invalidateQueries({ queryKey: keys.apiKeys });
  const act = async ({ key, what }: { key: ApiKey; what: 'rotate' | 'revoke' }) => {
    setProblem('');
    try {
      if (what === 'revoke') await apiKeys.revoke(key.id);
      else {
        const fresh = await apiKeys.rotate(key.id);
        if (isInUse(key, token)) renewToken(fresh.key);
        setShown(fresh);
      }
    } catch (cause) {
      setProblem(errorText(cause));
    }
    await refresh();
  };

  if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <>
      <title>{t('nav.keys')}</title>
      <div className="mb-6 flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h1 className="text-2xl font-semibold tracking-tight">{t('nav.keys')}</h1>
          <p className="mt-1 text-sm text-soft">{t('keys.intro')}</p>
        </div>
        <Button variant="primary" icon={<Plus size={17} aria-hidden="true" />} onClick={() => setMaking(true)}>
          {t('keys.new')}
        </Button>
      </div>
      <div className="flex flex-col gap-3">
        {problem && (
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        )}
        {who && !who.ways.includes('api_key') && <Banner tone="info">{t('keys.notAsked')}</Banner>}
        {data.length === 0 ? (
          <EmptyState icon={<KeySquare size={24} aria-hidden="true" />} title={t('keys.emptyTitle')}>
            {t('keys.emptyText')}
          </EmptyState>
        ) : (
          <ul className="grid gap-3 lg:grid-cols-2">
            {data.map((key) => (
              <KeyCard
                key={key.id}
                item={key}
                kbs={kbs}
                inUse={isInUse(key, token)}
                onRotate={() => setAsked({ key, what: 'rotate' })}
                onRevoke={() => setAsked({ key, what: 'revoke' })}
              />
            ))}
          </ul>
        )}
      </div>
      {making && (
        <NewKeyDialog
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false);
            setShown(made);
            void refresh();
          }}
        />
      )}
      {shown && <KeyText name={shown.name} text={shown.key} onClose={() => setShown(null)} />}
      <Confirm
        open={asked !== null}
        onClose={() => setAsked(null)}
        onConfirm={() => asked && void act(asked)}
        title={asked ? t(`keys.${asked.what}Title`, { name: asked.key.name }) : ''}
        description={asked ? t(asked.what === 'revoke' && isInUse(asked.key, token) ? 'keys.revokeOwn' : `keys.${asked.what}Text`) : ''}
        verb={asked ? t(`keys.${asked.what}Verb`) : ''}
      />
    </>
  );
}

interface KeyCardProps {
  item: ApiKey;
  kbs: KnowledgeBase[];
  inUse: boolean;
  onRotate: () => void;
  onRevoke: () => void;
}

function KeyCard({ item, kbs, inUse, onRotate, onRevoke }: KeyCardProps) {
  const { t } = useTranslation();
  const { name, expires_at: ends } = item;
  const [now] = useState(Date.now);
  const left = ends === null ? Infinity : parseTime(ends).getTime() - now;
  const reach = item.knowledge_base_ids?.map((id) => kbs.find((kb) => kb.id === id)?.name ?? t('keys.goneKb')).join(', ');
  return (
    <li className="flex gap-3 rounded-xl border border-line bg-surface p-4 shadow-card">
      <div className="min-w-0 flex-1">
        <h2 className="flex flex-wrap items-center gap-x-2.5 gap-y-1 font-semibold">
          {name}
          <span className="rounded-md bg-sunken px-1.5 py-0.5 text-xs font-medium text-soft">{t(`keys.capability_${item.capability}`)}</span>
          {inUse && <span className="rounded-md bg-accent-wash px-1.5 py-0.5 text-xs font-medium text-accent">{t('keys.inUse')}</span>}
        </h2>
        <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 text-[0.8125rem]">
          <dt className="text-soft">{t('nav.kbs')}</dt>
          <dd className="min-w-0 truncate" title={reach}>
            {reach ?? t('keys.allOfThem')}
          </dd>
          <dt className="text-soft">{t('keys.ends')}</dt>
          <dd className={clsx(left <= 0 ? 'text-bad' : left < soonMs && 'text-warn')}>
            {ends === null ? t('keys.never') : left <= 0 ? t('keys.ended', { when: formatTime(ends) }) : formatTime(ends)}
          </dd>
          <dt className="text-soft">{t('keys.lastUsed')}</dt>
          <dd>{item.last_used_at ? formatAgo(item.last_used_at) : t('keys.neverUsed')}</dd>
          <dt className="text-soft">{t('settings.created')}</dt>
          <dd>{formatTime(item.created_at)}</dd>
        </dl>
      </div>
      <div className="flex flex-col gap-1">
        <IconButton label={t('keys.rotate', { name })} icon={<RefreshCw size={17} aria-hidden="true" />} onClick={onRotate} />
        <IconButton label={t('keys.revoke', { name })} icon={<Trash2 size={17} aria-hidden="true" />} onClick={onRevoke} />
      </div>
    </li>
  );
}
