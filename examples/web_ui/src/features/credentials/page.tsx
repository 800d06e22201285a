import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, KeyRound, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { credentials } from '@/api/calls';
import { credentialsQuery, kbsQuery, keys, schemasQuery } from '@/api/queries';
import type { Credential, KnowledgeBase, ObjectSchema } from '@/api/types';
import { LoadFailed } from '@/features/shell/problems';
import { Banner } from '@/ui/banner';
import { Button, IconButton } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { Dialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/empty';
import { formatAgo } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { codeText, errorText } from '@/ui/message';
import { isSecret } from '@/ui/schema_form';
import { CredentialDialog } from './credential_dialog';

export function CredentialsPage() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data, error, refetch } = useQuery(credentialsQuery);
  const { data: schemas = [] } = useQuery(schemasQuery);
  const { data: kbs = [] } = useQuery(kbsQuery);
  const [editing, setEditing] = useState<Credential | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Credential | null>(null);
  const [problem, setProblem] = useState('');

  const usersOf = (credential: Credential | null) =>
    credential ? kbs.filter((kb) => kb.embedding_model_config.credential_id === credential.id) : [];

  const remove = async (credential: Credential) => {
    setProblem('');
    try {
      await credentials.remove(credential.id);
    } catch (cause) {
      setProblem(errorText(cause));
    }
    await Promise.all([keys.credentials, keys.models].map((queryKey) => cache.invalidateQueries({ queryKey })));
  };

  if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const inUse = usersOf(leaving);
  return (
    <>
      <title>{t('credentials.title')}</title>
      <div className="mb-6 flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1">
          <h1 className="text-2xl font-semibold tracking-tight">{t('credentials.title')}</h1>
          <p className="mt-1 text-sm text-soft">{t('credentials.intro')}</p>
        </div>
        <Button variant="primary" icon={<Plus size={17} aria-hidden="true" />} onClick={() => setEditing('new')}>
          {t('credentials.new')}
        </Button>
      </div>
      {problem && (
        <div className="mb-4">
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        </div>
      )}
      {data.length === 0 ? (
        <EmptyState icon={<KeyRound size={24} aria-hidden="true" />} title={t('credentials.emptyTitle')}>
          {t('credentials.emptyText')}
        </EmptyState>
      ) : (
        <ul className="grid gap-3 lg:grid-cols-2">
          {data.map((credential) => (
            <CredentialCard
              key={credential.id}
              credential={credential}
              schema={schemas.find((item) => item.properties?.type?.const === credential.data.type)}
              users={usersOf(credential)}
              onEdit={() => setEditing(credential)}
              onDelete={() => setLeaving(credential)}
            />
          ))}
        </ul>
      )}
      {editing && <CredentialDialog current={editing === 'new' ? undefined : editing} onClose={() => setEditing(null)} />}
      <Confirm
        open={leaving !== null && inUse.length === 0}
        onClose={() => setLeaving(null)}
        onConfirm={() => leaving && void remove(leaving)}
        title={t('credentials.deleteTitle', { name: leaving?.data.name })}
        description={t('credentials.deleteText')}
        verb={t('credentials.deleteVerb')}
      />
      <Dialog
        open={leaving !== null && inUse.length > 0}
        onClose={() => setLeaving(null)}
        title={t('credentials.inUseTitle', { name: leaving?.data.name })}
        description={t('credentials.inUseText', { count: inUse.length })}
        footer={<Button onClick={() => setLeaving(null)}>{t('common.close')}</Button>}
      >
        <ul className="list-disc pl-5 text-sm">
          {inUse.map((kb) => (
            <li key={kb.id}>{kb.name}</li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}

interface CardProps {
  credential: Credential;
  schema: ObjectSchema | undefined;
  users: KnowledgeBase[];
  onEdit: () => void;
  onDelete: () => void;
}

function CredentialCard({ credential, schema, users, onEdit, onDelete }: CardProps) {
  const { t, i18n } = useTranslation();
  const name = credential.data.name || schema?.title || credential.data.type;
  const shown = Object.entries(schema?.properties ?? {}).filter(
    ([field, property]) => !['id', 'name', 'type'].includes(field) && (isSecret(property) || credential.data[field]),
  );
  return (
    <li className="flex gap-3 rounded-xl border border-line bg-surface p-4 shadow-card">
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">{name}</h2>
        <p className="text-sm text-soft">{schema?.title ?? credential.data.type}</p>
        <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 text-[0.8125rem]">
          {shown.map(([field, property]) => (
            <div key={field} className="contents">
              <dt className="text-soft">{i18n.exists(`fields.${field}`) ? t(`fields.${field}`) : (property.title ?? field)}</dt>
              <dd className="truncate">{isSecret(property) ? '••••••••' : String(credential.data[field])}</dd>
            </div>
          ))}
          <dt className="text-soft">{t('credentials.usedBy')}</dt>
          <dd>{users.length > 0 ? users.map((kb) => kb.name).join(', ') : t('credentials.unused')}</dd>
          {credential.updated_at && (
            <>
              <dt className="text-soft">{t('kb.updated')}</dt>
              <dd>{formatAgo(credential.updated_at)}</dd>
            </>
          )}
        </dl>
        {credential.editable && <TestButton credential={credential} name={name} />}
      </div>
      {credential.editable && (
        <div className="flex flex-col gap-1">
          <IconButton label={t('credentials.edit', { name })} icon={<Pencil size={17} aria-hidden="true" />} onClick={onEdit} />
          <IconButton label={t('credentials.delete', { name })} icon={<Trash2 size={17} aria-hidden="true" />} onClick={onDelete} />
        </div>
      )}
    </li>
  );
}

/** Asks the provider now; the answer stands beside the button until the page is left. */
function TestButton({ credential, name }: { credential: Credential; name: string }) {
  const { t } = useTranslation();
  const [state, setState] = useState<'idle' | 'busy' | 'ok' | 'bad'>('idle');
  const [reason, setReason] = useState('');
  const run = async () => {
    setState('busy');
    try {
      const { ok, code, detail } = await credentials.test(credential.id);
      setState(ok ? 'ok' : 'bad');
      setReason(codeText(code, detail ?? ''));
    } catch (cause) {
      setState('bad');
      setReason(errorText(cause));
    }
  };
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Button size="sm" busy={state === 'busy'} aria-label={t('credentials.testOf', { name })} onClick={() => void run()}>
        {t('credentials.test')}
      </Button>
      <span role="status" className="min-w-0 text-[0.8125rem]">
        {state === 'ok' && (
          <span className="inline-flex items-center gap-1.5 text-good">
            <CircleCheck size={15} aria-hidden="true" />
            {t('credentials.works')}
          </span>
        )}
        {state === 'bad' && (
          <span className="inline-flex items-start gap-1.5 text-bad">
            <CircleAlert size={15} className="mt-0.5 shrink-0" aria-hidden="true" />
            {reason}
          </span>
        )}
      </span>
    </div>
  );
}
