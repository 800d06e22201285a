import { ArrowDown, ArrowUp, Search } from 'lucide-react';
import clsx from 'clsx';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type DocumentStatus, type KnowledgeDocument, MOVING_STATES, type StatusCounts } from '@/api/types';
import { Button } from '@/ui/button';
import { Checkbox, Input, Select } from '@/ui/field';
import { formatNumber } from '@/ui/format';
import { singleTypes } from '@/features/search/filters';
import { pageSize, type ListParams } from './list_query';
import { DocumentRow, type RowActions } from './row';

/** What the service can sort by, and the column that shows it. */
export const sortColumns: { key: NonNullable<ListParams['sort']>; label: string; className: string }[] = [
  { key: 'name', label: 'table.name', className: 'pl-2 text-left' },
  { key: 'status', label: 'table.state', className: 'hidden text-left md:table-cell' },
  { key: 'chunks', label: 'table.chunks', className: 'hidden text-right lg:table-cell' },
  { key: 'size', label: 'table.size', className: 'hidden text-right lg:table-cell' },
  { key: 'create_time', label: 'table.added', className: 'hidden text-left sm:table-cell' },
];
export const sortable: ReadonlySet<string> = new Set(['name', 'chunks', 'size', 'create_time']);

interface ToolbarProps {
  params: ListParams;
  counts: StatusCounts;
  onChange: (changes: Partial<ListParams>) => void;
}

const states: DocumentStatus[] = [...MOVING_STATES, 'ready', 'error'];

export function TableToolbar({ params, counts, onChange }: ToolbarProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(params.q ?? '');
  const [seen, setSeen] = useState(params.q);
  if (seen !== params.q) {
    setSeen(params.q);
    setTyped(params.q ?? '');
  }
  useEffect(() => {
    const next = typed.trim() || undefined;
    if (next === params.q) return;
    const timer = setTimeout(() => onChange({ q: next, page: undefined }), 250);
    return () => clearTimeout(timer);
  }, [typed, params.q, onChange]);

  return (
    <div className="flex flex-wrap gap-2">
      <div className="relative min-w-0 flex-1 basis-52">
        <Search size={16} aria-hidden="true" className="pointer-events-none absolute top-2.5 left-3 text-soft" />
        <Input
          type="search"
          className="pl-9"
          value={typed}
          aria-label={t('table.filterName')}
          placeholder={t('table.filterName')}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <div className="w-full sm:w-48">
        <Select
          aria-label={t('table.filterState')}
          value={params.status ?? ''}
          onChange={(event) => onChange({ status: (event.target.value || undefined) as DocumentStatus | undefined, page: undefined })}
        >
          <option value="">{t('table.allStates')}</option>
          {states.map((state) => (
            <option key={state} value={state}>
              {t('table.stateCount', { state: t(`state.${state}`), count: counts[state], shown: formatNumber(counts[state]) })}
            </option>
          ))}
        </Select>
      </div>
      <div className="w-full sm:w-44">
        <Select
          aria-label={t('search.fileType')}
          value={params.type ?? ''}
          onChange={(event) => onChange({ type: event.target.value || undefined, page: undefined })}
        >
          <option value="">{t('search.anyType')}</option>
          {singleTypes.map(([type, label]) => (
            <option key={type} value={type}>
              {label}
            </option>
          ))}
        </Select>
      </div>
    </div>
  );
}

interface TableProps {
  rows: KnowledgeDocument[];
  params: ListParams;
  selected: ReadonlySet<string>;
  leaving: ReadonlySet<string>;
  editable: boolean;
  actions: RowActions;
  onChange: (changes: Partial<ListParams>) => void;
  onSelectPage: (on: boolean) => void;
}

export function DocumentTable({ rows, params, selected, leaving, editable, actions, onChange, onSelectPage }: TableProps) {
  const { t } = useTranslation();
  const sort = params.sort ?? 'create_time';
  const descending = (params.desc ?? '1') === '1';
  const onPage = rows.filter((row) => selected.has(row.id)).length;
  return (
    <table className="w-full table-auto border-collapse">
      <caption className="sr-only">{t('table.caption')}</caption>
      <thead>
        <tr className="text-xs font-medium text-soft">
          <th scope="col" className="py-1.5 pl-4 text-left">
            {editable && (
              <label className="flex size-6 items-center justify-center">
                <Checkbox
                  aria-label={t('table.selectPage')}
                  checked={rows.length > 0 && onPage === rows.length}
                  ref={(element) => {
                    if (element) element.indeterminate = onPage > 0 && onPage < rows.length;
                  }}
                  onChange={(event) => onSelectPage(event.target.checked)}
                />
              </label>
            )}
          </th>
          {sortColumns.map(({ key, label, className }) => {
            const active = key === sort;
            const Arrow = descending ? ArrowDown : ArrowUp;
            return (
              <th
                key={key}
                scope="col"
                className={clsx('py-1.5 pr-4 font-medium', className, key === 'name' && 'w-full')}
                aria-sort={active ? (descending ? 'descending' : 'ascending') : undefined}
              >
                {sortable.has(key) ? (
                  <button
                    type="button"
                    className={clsx('inline-flex min-h-6 items-center gap-1 rounded whitespace-nowrap hover:text-ink', active && 'text-ink')}
                    onClick={() => onChange({ sort: key, desc: (active ? descending : key === 'name') ? '0' : '1', page: undefined })}
                  >
                    {t(label)}
                    {active && <Arrow size={13} aria-hidden="true" />}
                  </button>
                ) : (
                  <span className="whitespace-nowrap">{t(label)}</span>
                )}
              </th>
            );
          })}
          <th scope="col" className="pr-3">
            <span className="sr-only">{t('table.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <DocumentRow
            key={row.id}
            document={row}
            selected={selected.has(row.id)}
            leaving={leaving.has(row.id)}
            editable={editable}
            actions={actions}
          />
        ))}
      </tbody>
    </table>
  );
}

export function Pages({ page, total, onPage }: { page: number; total: number; onPage: (page: number) => void }) {
  const { t } = useTranslation();
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (last === 1) return null;
  const from = (page - 1) * pageSize + 1;
  return (
    <nav aria-label={t('table.pages')} className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-4 py-2.5">
      <p className="text-[0.8125rem] text-soft tabular-nums">
        {t('table.range', { from: formatNumber(from), to: formatNumber(Math.min(total, from + pageSize - 1)), total: formatNumber(total) })}
      </p>
      <div className="flex gap-2">
        <Button size="sm" disabled={page <= 1} onClick={() => onPage(page - 1)}>
          {t('table.previous')}
        </Button>
        <Button size="sm" disabled={page >= last} onClick={() => onPage(page + 1)}>
          {t('table.next')}
        </Button>
      </div>
    </nav>
  );
}
