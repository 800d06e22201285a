import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { isMoving, type KnowledgeDocument } from '@/api/types';
import type { UploadItem } from '@/features/upload/queue';
import { formatNumber, formatPercent } from '@/ui/format';
import { Spinner } from '@/ui/spinner';

const line = 'inline-flex items-center gap-1.5 whitespace-nowrap text-[0.8125rem]';

/** One word, one icon, and a bar where there is something real to measure. */
export function DocumentState({ document }: { document: KnowledgeDocument }) {
  const { t } = useTranslation();
  const { status, progress, warnings } = document;
  if (status === 'ready')
    return warnings && warnings.length > 0 ? (
      <span className={`${line} text-warn`}>
        <TriangleAlert size={15} aria-hidden="true" />
        {t('state.readyWarning')}
      </span>
    ) : (
      <span className={`${line} text-good`}>
        <CircleCheck size={15} aria-hidden="true" />
        {t('state.ready')}
      </span>
    );
  if (status === 'error')
    return (
      <span className={`${line} text-bad`}>
        <CircleAlert size={15} aria-hidden="true" />
        {t('state.error')}
      </span>
    );
  const label = t(`state.${status}`);
  const measured = isMoving(status) && progress && progress.total ? progress : null;
  return (
    <span className="inline-flex w-36 flex-col gap-1">
      <span className={`${line} text-soft`}>
        {status === 'pending' ? <CircleDashed size={15} aria-hidden="true" /> : <Spinner size={14} />}
        {label}
        {measured && (
          <span className="ml-auto tabular-nums">
            {formatNumber(measured.done)}/{formatNumber(measured.total ?? 0)}
          </span>
        )}
      </span>
      {status !== 'pending' && (
        <progress
          className="w-full"
          aria-label={t('state.progressOf', { name: document.filename, stage: label })}
          {...(measured ? { max: measured.total ?? 1, value: Math.min(measured.done, measured.total ?? 1) } : {})}
        />
      )}
    </span>
  );
}

export function UploadStateView({ item, paused }: { item: UploadItem; paused: boolean }) {
  const { t } = useTranslation();
  if (item.state === 'failed')
    return (
      <span className={`${line} text-bad`}>
        <CircleAlert size={15} aria-hidden="true" />
        {t('state.notSent')}
      </span>
    );
  if (item.state === 'sending') {
    const share = item.file.size > 0 ? item.loaded / item.file.size : 0;
    return (
      <span className="inline-flex w-36 flex-col gap-1">
        <span className={`${line} text-soft`}>
          <Spinner size={14} />
          {t('state.uploading')}
          <span className="ml-auto tabular-nums">{formatPercent(share)}</span>
        </span>
        <progress
          className="w-full"
          max={1}
          value={share}
          aria-label={t('state.progressOf', { name: item.path, stage: t('state.uploading') })}
        />
      </span>
    );
  }
  return (
    <span className={`${line} text-soft`}>
      <CircleDashed size={15} aria-hidden="true" />
      {paused ? t('state.paused') : item.state === 'sent' ? t('state.pending') : t('state.queued')}
    </span>
  );
}
