import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { migrations } from '@/api/calls';
import { keys, migrationQuery } from '@/api/queries';
import type { EmbeddingModelConfig, KnowledgeBase, Migration } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { Dialog } from '@/ui/dialog';
import { formatNumber, formatTime } from '@/ui/format';
import { announce } from '@/ui/live';
import { codeText, errorText } from '@/ui/message';
import { ModelPicker, useModelPick } from './model_picker';
import { localType } from './models';

/** The embedding model, and the way to another one while searches go on. */
export function ModelSection({ kb, className }: { kb: KnowledgeBase; className: string }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data } = useQuery(migrationQuery(kb.id));
  const [choosing, setChoosing] = useState(false);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const running = data?.migration ?? null;
  const before = useRef(running);

  useEffect(() => {
    if (before.current && !running) {
      announce(t('model.done'));
      void cache.invalidateQueries({ queryKey: keys.kb(kb.id) });
      void cache.invalidateQueries({ queryKey: keys.documents(kb.id) });
    }
    before.current = running;
  }, [running, cache, kb.id, t]);

  const act = async (what: () => Promise<unknown>) => {
    setBusy(true);
    setProblem('');
    try {
      await what();
    } catch (cause) {
      setProblem(errorText(cause));
    } finally {
      await cache.invalidateQueries({ queryKey: ['migration', kb.id] });
      setBusy(false);
    }
  };
  const begin = (config: EmbeddingModelConfig | null) => act(() => migrations.begin(kb.id, config));

  if (!data) return null;
  return (
    <section className={`${className} flex flex-col gap-3`} aria-labelledby="model-title">
      <div>
        <h2 id="model-title" className="font-semibold">
          {t('create.model')}
        </h2>
        <p className="mt-1 text-sm text-soft">{t('model.text')}</p>
      </div>
      {problem && (
        <Banner tone="bad" role="alert">
          {problem}
        </Banner>
      )}
      {running ? (
        <Running
          migration={running}
          busy={busy}
          onAgain={() => void begin(running.embedding_model_config)}
          onCancel={() => void act(() => migrations.cancel(kb.id))}
        />
      ) : (
        <>
          {data.model_changed && <Banner tone="warn">{codeText('embedding_model_changed', '')}</Banner>}
          <div className="flex flex-wrap gap-2">
            {data.model_changed && (
              <Button variant="primary" busy={busy} onClick={() => void begin(null)}>
                {t('model.again')}
              </Button>
            )}
            <Button onClick={() => setChoosing(true)}>{t('model.change')}</Button>
          </div>
        </>
      )}
      {choosing && (
        <ChooseDialog
          current={kb.embedding_model_config}
          onClose={() => setChoosing(false)}
          onChosen={(config) => {
            setChoosing(false);
            void begin(config);
          }}
        />
      )}
    </section>
  );
}

interface RunningProps {
  migration: Migration;
  busy: boolean;
  onAgain: () => void;
  onCancel: () => void;
}

function Running({ migration, busy, onAgain, onCancel }: RunningProps) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const { progress, error, next_attempt_at: next } = migration;
  const stopped = progress.stage === 'stopped';
  const label = t(`model.stage_${progress.stage}`, { model: migration.embedding_model_config.model });
  return (
    <div className="flex flex-col gap-3">
      {error && (
        <Banner tone={stopped ? 'bad' : 'warn'}>
          {codeText(error.code, error.message)}
          {!stopped && next && ` ${t('model.next', { when: formatTime(next) })}`}
        </Banner>
      )}
      <div className="flex flex-col gap-1.5">
        <p className="flex flex-wrap justify-between gap-x-4 text-sm">
          <span className="font-medium">{label}</span>
          <span className="text-soft tabular-nums">
            {t('model.progress', { done: formatNumber(progress.done), count: progress.total, total: formatNumber(progress.total) })}
          </span>
        </p>
        <progress className="w-full" aria-label={label} max={Math.max(1, progress.total)} value={progress.done} />
      </div>
      <div className="flex flex-wrap gap-2">
        {stopped && (
          <Button variant="primary" busy={busy} onClick={onAgain}>
            {t('common.retry')}
          </Button>
        )}
        <Button busy={busy && !stopped} onClick={() => setAsking(true)}>
          {t('model.cancel')}
        </Button>
      </div>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={onCancel}
        title={t('model.cancelTitle')}
        description={t('model.cancelText')}
        verb={t('model.cancel')}
      />
    </div>
  );
}

interface ChooseDialogProps {
  current: EmbeddingModelConfig;
  onClose: () => void;
  onChosen: (config: EmbeddingModelConfig) => void;
}

function ChooseDialog({ current, onClose, onChosen }: ChooseDialogProps) {
  const { t } = useTranslation();
  const pick = useModelPick();
  const [error, setError] = useState('');
  const { config } = pick;
  const same =
    config !== undefined &&
    // The model on this machine is one, whatever its credential is called for whom.
    (config.credential_id === current.credential_id || (config.type === localType && current.type === localType)) &&
    config.model === current.model &&
    config.dimensions === current.dimensions;
  const submit = () => {
    if (!pick.complete) return setError(t('create.modelMissing'));
    if (config && !same) onChosen(config);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('model.chooseTitle')}
      description={t('model.chooseText')}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" disabled={!config || same}>
            {t('model.start')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ModelPicker pick={pick} error={error} onTyped={() => setError('')} />
        {same && <p className="text-[0.8125rem] text-soft">{t('model.same')}</p>}
      </div>
    </Dialog>
  );
}
