import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '@/api/errors';
import { keys } from '@/api/queries';
import type { Imported } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { formatNumber, formatPercent } from '@/ui/format';
import { errorText } from '@/ui/message';
import { importFrom } from './archive';

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [errors, setErrors] = useState<{ file?: string; name?: string }>({});
  const [problem, setProblem] = useState('');
  const [sent, setSent] = useState<number | null>(null);
  const [result, setResult] = useState<Imported | null>(null);
  const stop = useRef<AbortController | null>(null);
  const first = useRef<HTMLInputElement>(null);

  const close = () => {
    stop.current?.abort();
    onClose();
  };
  const submit = async () => {
    if (!file) return setErrors({ file: t('archive.fileMissing') });
    setSent(0);
    setProblem('');
    const control = new AbortController();
    stop.current = control;
    try {
      setResult(await importFrom(file, name.trim(), setSent, control.signal));
      void cache.invalidateQueries({ queryKey: keys.kbs });
    } catch (cause) {
      if (control.signal.aborted) return;
      const error = toApiError(cause);
      if (error.code === 'duplicate_name') setErrors({ name: errorText(error) });
      else setProblem(errorText(error));
    } finally {
      setSent(null);
    }
  };

  if (result)
    return (
      <Dialog
        open
        onClose={onClose}
        title={t('archive.doneTitle', { name: result.name })}
        footer={
          <Button
            variant="primary"
            onClick={() => {
              onClose();
              void navigate({ to: '/kb/$kbId', params: { kbId: result.knowledge_base_id } });
            }}
          >
            {t('archive.open')}
          </Button>
        }
      >
        <Outcome result={result} />
      </Dialog>
    );
  return (
    <Dialog
      open
      onClose={close}
      title={t('archive.importTitle')}
      description={t('archive.importText')}
      firstFocus={first}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={close}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" busy={sent !== null}>
            {t('archive.import')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {problem && (
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        )}
        <Field label={t('archive.file')} error={errors.file}>
          {(ids) => (
            <Input
              {...ids}
              ref={first}
              type="file"
              accept=".tar,application/x-tar"
              className="file:mr-3 file:rounded-md file:border-0 file:bg-sunken file:px-2.5 file:py-1 file:text-ink"
              onChange={(event) => {
                setFile(event.target.files?.[0] ?? null);
                setErrors({});
              }}
            />
          )}
        </Field>
        <Field label={t('create.name')} optional={t('common.optional')} hint={t('archive.nameHint')} error={errors.name}>
          {(ids) => (
            <Input
              {...ids}
              value={name}
              maxLength={200}
              autoComplete="off"
              onChange={(event) => {
                setName(event.target.value);
                setErrors({});
              }}
            />
          )}
        </Field>
        {sent !== null && (
          <p className="flex items-center gap-3 text-sm text-soft tabular-nums">
            <progress className="flex-1" aria-label={t('archive.importTitle')} {...(sent < 1 ? { value: sent, max: 1 } : {})} />
            {sent < 1 ? formatPercent(sent) : t('archive.reading')}
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Outcome({ result }: { result: Imported }) {
  const { t } = useTranslation();
  const { carried, queued, present } = result.documents;
  const lines = Object.entries({ carried, queued, present }).filter(([, count]) => count > 0);
  return (
    <div className="flex flex-col gap-3 text-sm">
      <ul className="list-disc pl-5">
        {lines.map(([what, count]) => (
          <li key={what}>{t(`archive.${what}`, { count, shown: formatNumber(count) })}</li>
        ))}
        {lines.length === 0 && <li>{t('archive.none')}</li>}
      </ul>
      {result.notes.length > 0 && (
        <Banner tone="info">
          {result.notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Banner>
      )}
      {result.not_exported.length > 0 && (
        <Banner tone="warn">
          <p>{t('archive.left', { count: result.not_exported.length, shown: formatNumber(result.not_exported.length) })}</p>
          <ul className="mt-1 list-disc pl-5">
            {result.not_exported.slice(0, 20).map((item) => (
              <li key={item.id}>{item.filename}</li>
            ))}
          </ul>
        </Banner>
      )}
    </div>
  );
}
