import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { OnDuplicate, SupportedTypes } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { formatBytes, formatNumber } from '@/ui/format';
import type { PickedFile } from './collect';
import { largestUpload, type Refusal } from './triage';
import type { Report } from './use_intake';

const order: Refusal[] = ['unsupported', 'too_large', 'empty', 'hidden'];
const choices: Exclude<OnDuplicate, 'reject'>[] = ['skip', 'replace', 'keep'];

interface ReportDialogProps {
  report: Report;
  supported: SupportedTypes | undefined;
  onClose: () => void;
  onStart: (files: PickedFile[], onDuplicate: OnDuplicate) => void;
}

/** What will not be sent and why, before anything is sent. */
export function ReportDialog({ report, supported, onClose, onStart }: ReportDialogProps) {
  const { t } = useTranslation();
  const [choice, setChoice] = useState<OnDuplicate>('skip');
  const { accepted, refused, duplicates } = report;
  const same = new Set(duplicates);
  const sent = choice === 'skip' ? accepted.filter((item) => !same.has(item)) : accepted;
  const start = () => (sent.length > 0 ? onStart(sent, choice === 'skip' ? 'keep' : choice) : onClose());
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t('report.title')}
      description={t('report.summary', { count: sent.length, shown: formatNumber(sent.length), total: formatNumber(accepted.length + refused.length) })}
      onSubmit={start}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          {sent.length > 0 && (
            <Button type="submit" variant="primary">
              {t('report.start', { count: sent.length, shown: formatNumber(sent.length) })}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-5">
        {duplicates.length > 0 && (
          <fieldset className="rounded-xl bg-accent-wash p-4">
            <legend className="float-left mb-2 w-full text-sm font-semibold">
              {t('report.duplicates', { count: duplicates.length, shown: formatNumber(duplicates.length) })}
            </legend>
            <div className="clear-both flex flex-wrap gap-x-6 gap-y-2">
              {choices.map((value) => (
                <label key={value} className="flex min-h-6 items-center gap-2 text-sm">
                  <input
                    type="radio"
                    name="on-duplicate"
                    className="size-4 accent-(--accent)"
                    checked={choice === value}
                    onChange={() => setChoice(value)}
                  />
                  {t(`report.${value}`)}
                </label>
              ))}
            </div>
            <FileList files={duplicates} />
          </fieldset>
        )}
        {order.map((reason) => {
          const files = refused.filter((item) => item.reason === reason).map((item) => item.picked);
          if (files.length === 0) return null;
          const limit = formatBytes(largestUpload(supported) ?? 0);
          return (
            <section key={reason}>
              <h3 className="text-sm font-semibold">{t(`report.${reason}`, { count: files.length, shown: formatNumber(files.length), limit })}</h3>
              {reason === 'unsupported' && supported && (
                <p className="mt-0.5 text-[0.8125rem] text-soft">{t('report.supported', { list: supported.extensions.join(' ') })}</p>
              )}
              <FileList files={files} />
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}

function FileList({ files }: { files: PickedFile[] }) {
  return (
    <ul className="mt-2 max-h-44 overflow-y-auto rounded-lg border border-line bg-surface text-sm" tabIndex={0}>
      {files.map((item, index) => (
        <li key={index} className="row-lazy flex justify-between gap-4 border-b border-line px-3 py-1.5 last:border-0">
          <span className="min-w-0 truncate">{item.path}</span>
          <span className="shrink-0 text-soft">{formatBytes(item.file.size)}</span>
        </li>
      ))}
    </ul>
  );
}
