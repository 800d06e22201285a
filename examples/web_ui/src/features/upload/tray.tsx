import { ChevronDown, CircleCheck, RotateCw, X } from 'lucide-react';
import { memo, startTransition, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import clsx from 'clsx';
import type { KnowledgeDocument } from '@/api/types';
import { DocumentState, UploadStateView } from '@/features/documents/status';
import type { LiveDocuments } from '@/features/documents/live';
import { Button, IconButton } from '@/ui/button';
import { formatBytes, formatNumber } from '@/ui/format';
import { errorText, failureText } from '@/ui/message';
import type { UploadItem } from './queue';
import { uploads } from './uploads';

interface TrayProps {
  items: UploadItem[];
  live: LiveDocuments;
  paused: boolean;
  kbId: string;
}

const rowsAtOnce = 40;

/** How many rows stand by now: a thousand made in one go would hold the page for seconds. */
function useGrowing(total: number): number {
  const [count, setCount] = useState(rowsAtOnce);
  useEffect(() => {
    if (count >= total) return;
    // As a transition the rows are made in slices, between which the page answers.
    const timer = setTimeout(() => startTransition(() => setCount(count + rowsAtOnce)), 4);
    return () => clearTimeout(timer);
  }, [count, total]);
  return Math.min(count, total);
}

/** Every file of this visit's uploads, newest batch first, each batch in the order it was dropped. */
export function UploadTray({ items, live, paused, kbId }: TrayProps) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<boolean | null>(null);
  const standing = useGrowing(items.length);
  if (items.length === 0) return null;
  const ordered = [...items].sort((a, b) => b.batch - a.batch || a.id - b.id);
  const done = items.every((item) => item.documentId !== null && live[item.documentId]?.status === 'ready');
  // When all went well the list steps back by itself.
  const open = chosen ?? !done;
  const sending = items.some((item) => item.state === 'waiting' || item.state === 'sending');
  return (
    <section aria-label={t('tray.title')} className="overflow-hidden rounded-2xl border border-line bg-surface shadow-card">
      <div className="flex items-center gap-2 px-4 py-2">
        <button
          type="button"
          aria-expanded={open}
          className="flex min-h-8 flex-1 items-center gap-2 rounded text-left text-sm font-semibold"
          onClick={() => setChosen(!open)}
        >
          <ChevronDown size={16} aria-hidden="true" className={clsx('transition-transform', !open && '-rotate-90')} />
          {t('tray.heading', { count: items.length, shown: formatNumber(items.length) })}
          {done && <CircleCheck size={16} aria-label={t('state.ready')} className="text-good" />}
        </button>
        {!sending && (
          <Button size="sm" variant="ghost" onClick={() => uploads.dismiss(kbId, true)}>
            {t('tray.clear')}
          </Button>
        )}
      </div>
      {open && (
        <ul className="max-h-72 overflow-y-auto border-t border-line" tabIndex={0} aria-label={t('tray.title')}>
          {ordered.slice(0, standing).map((item) => (
            <TrayRow key={item.id} item={item} document={item.documentId ? live[item.documentId] : undefined} paused={paused} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface TrayRowProps {
  item: UploadItem;
  document: KnowledgeDocument | undefined;
  paused: boolean;
}

const TrayRow = memo(function TrayRow({ item, document, paused }: TrayRowProps) {
  const { t } = useTranslation();
  const unsent = item.state === 'waiting' || item.state === 'sending';
  const problem = item.error ? errorText(item.error) : document?.status === 'error' ? failureText(document) : '';
  const retrying = document?.status === 'pending' && document.error_detail ? t('table.retrying', { reason: failureText(document) }) : '';
  const slash = item.path.lastIndexOf('/') + 1;
  return (
    <li className="row-lazy flex items-center gap-3 border-b border-line px-4 py-1.5 last:border-0">
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm" title={item.path}>
          {slash > 0 && <span className="text-soft">{item.path.slice(0, slash)}</span>}
          {item.path.slice(slash)}
        </p>
        {problem ? (
          <p className="text-[0.8125rem] text-bad">{problem}</p>
        ) : retrying ? (
          <p className="text-[0.8125rem] text-warn">{retrying}</p>
        ) : (
          <p className="text-xs text-soft">
            {formatBytes(item.file.size)}
            {item.duplicate && ` · ${t('tray.duplicate')}`}
          </p>
        )}
      </div>
      {item.state === 'sent' && document ? <DocumentState document={document} /> : <UploadStateView item={item} paused={paused} />}
      {item.state === 'failed' && (
        <IconButton
          label={t('tray.retry', { name: item.file.name })}
          icon={<RotateCw size={16} aria-hidden="true" />}
          onClick={() => uploads.retry(item.id)}
        />
      )}
      {unsent ? (
        <IconButton
          label={t('tray.cancel', { name: item.file.name })}
          icon={<X size={16} aria-hidden="true" />}
          onClick={() => uploads.cancel(item.id)}
        />
      ) : (
        item.state !== 'failed' && <span className="size-8 shrink-0" aria-hidden="true" />
      )}
    </li>
  );
});
