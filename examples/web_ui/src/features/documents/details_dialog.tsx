import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { KnowledgeDocument } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { formatTime } from '@/ui/format';
import { failureText } from '@/ui/message';
import { warningText } from './warnings';

interface DetailsDialogProps {
  document: KnowledgeDocument;
  onClose: () => void;
  onRetry?: () => void;
}

export function DetailsDialog({ document, onClose, onRetry }: DetailsDialogProps) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const { error_detail: detail } = document;
  const rows: [string, string][] = [
    [t('details.message'), document.error ?? detail?.message ?? ''],
    [t('details.code'), detail?.code ?? ''],
    [t('details.stage'), detail?.stage ?? ''],
    [t('details.attempt'), detail?.attempt ? String(detail.attempt) : ''],
    [t('details.uploaded'), formatTime(document.created_at)],
    [t('details.changed'), formatTime(document.updated_at)],
    [t('details.id'), document.id],
  ];
  const known = rows.filter(([, value]) => value !== '');
  const copy = async () => {
    await navigator.clipboard.writeText([document.filename, ...known.map(([label, value]) => `${label}: ${value}`)].join('\n'));
    setCopied(true);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={document.filename}
      description={document.status === 'error' ? failureText(document) : undefined}
      footer={
        <>
          <Button onClick={() => void copy()}>{copied ? t('common.copied') : t('common.copy')}</Button>
          {onRetry && (
            <Button
              variant="primary"
              onClick={() => {
                onClose();
                onRetry();
              }}
            >
              {t('common.retry')}
            </Button>
          )}
        </>
      }
    >
      {document.warnings && document.warnings.length > 0 && (
        <ul className="mb-3 list-disc pl-5 text-sm text-warn">
          {document.warnings.map((warning, index) => (
            <li key={index}>{warningText(warning)}</li>
          ))}
        </ul>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
        {known.map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-soft">{label}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
