import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { Download, EllipsisVertical, Info, RotateCw, Trash2 } from 'lucide-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { isMoving, type KnowledgeDocument } from '@/api/types';
import { IconButton } from '@/ui/button';
import { Checkbox } from '@/ui/field';
import { formatAgo, formatBytes, formatNumber, formatTime } from '@/ui/format';
import { Menu, MenuItem, MenuLine } from '@/ui/menu';
import { failureText } from '@/ui/message';
import { DocumentState } from './status';
import { warningText } from './warnings';

export interface RowActions {
  select: (id: string, on: boolean) => void;
  details: (document: KnowledgeDocument) => void;
  download: (document: KnowledgeDocument) => void;
  reindex: (document: KnowledgeDocument) => void;
  remove: (document: KnowledgeDocument) => void;
}

interface RowProps {
  document: KnowledgeDocument;
  selected: boolean;
  leaving: boolean;
  editable: boolean;
  actions: RowActions;
}

const icon = { size: 16, 'aria-hidden': true } as const;

export const DocumentRow = memo(function DocumentRow({ document, selected, leaving, editable, actions }: RowProps) {
  const { t } = useTranslation();
  const { filename, status, warnings } = document;
  const folder = typeof document.metadata?.folder === 'string' ? document.metadata.folder : '';
  const failed = status === 'error';
  const retryable = failed && document.error_detail?.retryable !== false;
  return (
    <tr className={clsx('border-t border-line', selected ? 'bg-accent-wash/60' : 'hover:bg-sunken/60', leaving && 'opacity-50')}>
      <td className="w-10 py-2.5 pl-4 align-top">
        {editable && (
          <label className="flex size-6 items-center justify-center">
            <Checkbox
              checked={selected}
              disabled={leaving}
              aria-label={t('table.selectRow', { name: filename })}
              onChange={(event) => actions.select(document.id, event.target.checked)}
            />
          </label>
        )}
      </td>
      <td className="max-w-0 py-2.5 pr-3 pl-2 align-top">
        <Link
          to="/kb/$kbId/doc/$documentId"
          from="/kb/$kbId"
          params={(before) => ({ kbId: before.kbId ?? '', documentId: document.id })}
          className="block truncate rounded text-sm leading-6 font-medium hover:underline"
          title={filename}
        >
          {folder && <span className="font-normal text-soft">{folder}/</span>}
          {filename}
        </Link>
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-soft lg:hidden">
          <span className="md:hidden">{leaving ? t('table.deleting') : <DocumentState document={document} />}</span>
          <span>{formatBytes(document.size)}</span>
          <span className="sm:hidden">{formatAgo(document.created_at)}</span>
        </span>
        {failed && (
          <p className="mt-0.5 text-[0.8125rem] text-bad">
            {failureText(document)}{' '}
            <button type="button" className="rounded text-soft underline hover:text-ink" onClick={() => actions.details(document)}>
              {t('table.details')}
            </button>
          </p>
        )}
        {status === 'pending' && document.error_detail && (
          <p className="mt-0.5 text-[0.8125rem] text-warn">{t('table.retrying', { reason: failureText(document) })}</p>
        )}
        {status === 'ready' &&
          warnings?.map((warning, index) => (
            <p key={index} className="mt-0.5 text-[0.8125rem] text-warn">
              {warningText(warning)}
            </p>
          ))}
      </td>
      <td className="hidden py-2.5 pr-4 align-top leading-6 md:table-cell">
        {leaving ? <span className="text-[0.8125rem] text-soft">{t('table.deleting')}</span> : <DocumentState document={document} />}
      </td>
      <td className="hidden py-2.5 pr-4 text-right align-top text-[0.8125rem] leading-6 text-soft tabular-nums lg:table-cell">
        {document.chunk_count > 0 ? formatNumber(document.chunk_count) : '–'}
      </td>
      <td className="hidden py-2.5 pr-4 text-right align-top text-[0.8125rem] leading-6 whitespace-nowrap text-soft tabular-nums lg:table-cell">
        {formatBytes(document.size)}
      </td>
      <td className="hidden py-2.5 pr-3 align-top text-[0.8125rem] leading-6 whitespace-nowrap text-soft sm:table-cell">
        <time dateTime={document.created_at} title={formatTime(document.created_at)}>
          {formatAgo(document.created_at)}
        </time>
      </td>
      <td className="w-12 py-1.5 pr-3 text-right align-top">
        <Menu trigger={<IconButton label={t('table.menu', { name: filename })} icon={<EllipsisVertical size={17} aria-hidden="true" />} disabled={leaving} />}>
          <MenuItem icon={<Info {...icon} />} onSelect={() => actions.details(document)}>
            {t('table.details')}
          </MenuItem>
          <MenuItem icon={<Download {...icon} />} onSelect={() => actions.download(document)}>
            {t('table.download')}
          </MenuItem>
          {editable && !isMoving(status) && (
            <MenuItem icon={<RotateCw {...icon} />} onSelect={() => actions.reindex(document)}>
              {retryable ? t('common.retry') : t('table.reindex')}
            </MenuItem>
          )}
          {editable && (
            <>
              <MenuLine />
              <MenuItem danger icon={<Trash2 {...icon} />} onSelect={() => actions.remove(document)}>
                {t('table.delete')}
              </MenuItem>
            </>
          )}
        </Menu>
      </td>
    </tr>
  );
});
