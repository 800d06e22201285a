import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Check, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { knowledgeBases } from '@/api/calls';
import { toApiError } from '@/api/errors';
import { kbQuery, keys } from '@/api/queries';
import type { KnowledgeBase } from '@/api/types';
import { uploads } from '@/features/upload/uploads';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { Field, Input, Select, Textarea } from '@/ui/field';
import { formatNumber, formatTime } from '@/ui/format';
import { errorText } from '@/ui/message';
import { searchModes } from '@/features/search/filters';
import { ExportSection } from './export_section';
import { ModelSection } from './model_section';
import { localType } from './models';
import { SharingSection } from './sharing_section';

const typedNameFrom = 20;
const card = 'rounded-2xl border border-line bg-surface p-5 shadow-card';

export function SettingsPage() {
  const { kbId } = useParams({ from: '/kb/$kbId/settings' });
  const { data: kb } = useQuery(kbQuery(kbId));
  const { t } = useTranslation();
  if (!kb) return null;
  const own = (kb.permission ?? 'owner') === 'owner';
  return (
    <div className="flex max-w-3xl flex-col gap-5">
      <title>{`${t('kb.tabSettings')} · ${kb.name}`}</title>
      <NameForm key={kb.id} kb={kb} />
      <FixedValues kb={kb} />
      {kb.editable && <ModelSection kb={kb} className={card} />}
      {own && kb.editable && <SharingSection kbId={kb.id} className={card} />}
      <ExportSection kb={kb} className={card} />
      {own && kb.editable && <DangerZone kb={kb} />}
    </div>
  );
}

function NameForm({ kb }: { kb: KnowledgeBase }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [name, setName] = useState(kb.name);
  const [description, setDescription] = useState(kb.description);
  const [mode, setMode] = useState(kb.search_mode ?? '');
  const [nameError, setNameError] = useState('');
  const [state, setState] = useState<'idle' | 'busy' | 'saved'>('idle');
  const [problem, setProblem] = useState('');

  const save = async () => {
    if (!name.trim()) return setNameError(t('create.nameMissing'));
    setState('busy');
    setProblem('');
    try {
      await knowledgeBases.update(kb.id, {
        name: name.trim(),
        description: description.trim(),
        ...(mode ? { search_mode: mode } : {}),
      });
      await Promise.all([keys.kb(kb.id), keys.kbs].map((queryKey) => cache.invalidateQueries({ queryKey })));
      setState('saved');
    } catch (cause) {
      const error = toApiError(cause);
      if (error.fields.name || error.code === 'duplicate_name') setNameError(errorText(error));
      else setProblem(errorText(error));
      setState('idle');
    }
  };

  return (
    <form
      noValidate
      className={`${card} flex flex-col gap-4`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2 className="font-semibold">{t('settings.general')}</h2>
      {problem && (
        <Banner tone="bad" role="alert">
          {problem}
        </Banner>
      )}
      <Field label={t('create.name')} error={nameError}>
        {(ids) => (
          <Input
            {...ids}
            value={name}
            disabled={!kb.editable}
            maxLength={200}
            onChange={(event) => {
              setName(event.target.value);
              setNameError('');
              setState('idle');
            }}
          />
        )}
      </Field>
      <Field label={t('create.description')} optional={t('common.optional')}>
        {(ids) => (
          <Textarea
            {...ids}
            rows={3}
            value={description}
            disabled={!kb.editable}
            onChange={(event) => {
              setDescription(event.target.value);
              setState('idle');
            }}
          />
        )}
      </Field>
      {mode && (
        <Field label={t('settings.mode')} hint={t('settings.modeHint')}>
          {(ids) => (
            <Select
              {...ids}
              value={mode}
              disabled={!kb.editable}
              className="sm:max-w-xs"
              onChange={(event) => {
                setMode(event.target.value);
                setState('idle');
              }}
            >
              {searchModes.map((item) => (
                <option key={item} value={item}>
                  {t(`search.mode_${item}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      {kb.editable && (
        <div className="flex items-center gap-3">
          <Button type="submit" variant="primary" busy={state === 'busy'}>
            {t('common.save')}
          </Button>
          <span role="status" className="text-sm text-good">
            {state === 'saved' && (
              <span className="inline-flex items-center gap-1.5">
                <Check size={16} aria-hidden="true" />
                {t('settings.saved')}
              </span>
            )}
          </span>
        </div>
      )}
    </form>
  );
}

function FixedValues({ kb }: { kb: KnowledgeBase }) {
  const { t, i18n } = useTranslation();
  const { embedding_model_config: model, chunker_config: chunker } = kb;
  const credential = model.type === localType ? t('create.localGroup') : (kb.credential_name ?? t('settings.credentialGone'));
  const rows: [string, string][] = [
    [t('create.model'), model.model],
    [t('create.dimension'), formatNumber(model.dimensions)],
    [t('settings.credential'), credential],
    [t('create.chunker'), chunker?.type ?? t('settings.standard')],
    ...Object.entries(chunker?.parameters ?? {}).map(([field, value]): [string, string] => [
      i18n.exists(`fields.${field}`) ? t(`fields.${field}`) : field,
      typeof value === 'number' ? formatNumber(value) : String(value),
    ]),
    [t('settings.created'), formatTime(kb.created_at)],
    [t('settings.id'), kb.id],
  ];
  return (
    <section className={card} aria-labelledby="fixed-title">
      <h2 id="fixed-title" className="font-semibold">
        {t('settings.fixed')}
      </h2>
      <p className="mt-1 text-sm text-soft">{t('settings.fixedWhy')}</p>
      <dl className="mt-4 grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[12rem_1fr]">
        {rows.map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-soft">{label}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function DangerZone({ kb }: { kb: KnowledgeBase }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);

  const remove = async () => {
    setBusy(true);
    setProblem('');
    try {
      uploads.cancelUnsent(kb.id);
      await knowledgeBases.remove(kb.id);
      uploads.dismiss(kb.id, true);
      await navigate({ to: '/', replace: true });
      cache.removeQueries({ queryKey: keys.kb(kb.id) });
      await cache.invalidateQueries({ queryKey: keys.kbs });
    } catch (cause) {
      setProblem(errorText(cause));
      setBusy(false);
    }
  };

  const counts = {
    documents: t('kb.documents', { count: kb.document_count, shown: formatNumber(kb.document_count) }),
    chunks: t('kb.chunks', { count: kb.chunk_count, shown: formatNumber(kb.chunk_count) }),
  };
  return (
    <section className="rounded-2xl border border-bad/40 bg-surface p-5" aria-labelledby="danger-title">
      <h2 id="danger-title" className="font-semibold text-bad">
        {t('settings.danger')}
      </h2>
      <p className="mt-1 mb-4 text-sm text-soft">{t('settings.deleteText', counts)}</p>
      {problem && (
        <div className="mb-4">
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        </div>
      )}
      <Button variant="danger" busy={busy} icon={<Trash2 size={16} aria-hidden="true" />} onClick={() => setAsking(true)}>
        {t('settings.delete')}
      </Button>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => void remove()}
        title={t('settings.deleteTitle', { name: kb.name })}
        description={t('settings.deleteText', counts)}
        verb={t('settings.delete')}
        typed={kb.document_count > typedNameFrom ? kb.name : undefined}
      />
    </section>
  );
}
