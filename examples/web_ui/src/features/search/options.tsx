import { SlidersHorizontal } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { KnowledgeBase } from '@/api/types';
import { Field, Input, Select } from '@/ui/field';
import { formatNumber } from '@/ui/format';
import { FilterBuilder } from './filter_builder';
import { families, searchModes } from './filters';
import { mostTopK, type SearchSettings, standardTopK } from './settings';

interface OptionsProps {
  kb: KnowledgeBase;
  settings: SearchSettings;
  fields: string[];
  onChange: (settings: SearchSettings) => void;
  /** Narrow: one of two columns. */
  narrow?: boolean;
  /** What the choice of the mode is called in one of two columns. */
  modeLabel?: string;
  children?: ReactNode;
}

const amounts = [3, 5, 10, 20, mostTopK];

function isSet({ k, min, mode, type, rerank, where }: SearchSettings): boolean {
  return Boolean(k ?? min ?? mode ?? type ?? rerank ?? where?.length) || rerank === false;
}

export function SearchOptions({ kb, settings, fields, onChange, narrow, modeLabel, children }: OptionsProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(isSet(narrow ? { ...settings, mode: undefined } : settings));
  const ownMode = kb.search_mode;
  const { k: amount = standardTopK, mode, type, min, rerank } = settings;
  const change = (changes: SearchSettings) => onChange({ ...settings, ...changes });
  const modeField = ownMode && (
    <Field label={modeLabel ?? t('search.mode')}>
      {(ids) => (
        <Select {...ids} value={mode ?? ownMode} onChange={(event) => change({ mode: event.target.value === ownMode ? undefined : event.target.value })}>
          {[...new Set([...searchModes, ownMode])].map((item) => (
            <option key={item} value={item}>
              {searchModes.includes(item) ? t(`search.mode_${item}`) : item}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
  return (
    <>
      {narrow && modeField}
      <details className="text-sm" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="inline-flex min-h-7 items-center gap-1.5 rounded px-1 text-[0.8125rem] font-medium text-soft hover:text-ink">
          <SlidersHorizontal size={14} aria-hidden="true" />
          {t('search.options')}
        </summary>
        <div className="mt-2 flex flex-col gap-4">
          <div className={narrow ? 'grid gap-4 sm:grid-cols-2' : 'grid gap-4 sm:grid-cols-2 lg:grid-cols-5'}>
            {!narrow && modeField}
            <Field label={t('search.topK')}>
              {(ids) => (
                <Select {...ids} value={amount} onChange={(event) => change({ k: Number(event.target.value) === standardTopK ? undefined : Number(event.target.value) })}>
                  {[...new Set([...amounts, amount])]
                    .sort((a, b) => a - b)
                    .map((value) => (
                      <option key={value} value={value}>
                        {formatNumber(value)}
                      </option>
                    ))}
                </Select>
              )}
            </Field>
            <Field label={t('search.rerank')}>
              {(ids) => (
                <Select
                  {...ids}
                  value={rerank === undefined ? '' : rerank ? '1' : '0'}
                  onChange={(event) => change({ rerank: event.target.value === '' ? undefined : event.target.value === '1' })}
                >
                  <option value="">{t('search.rerank_own')}</option>
                  <option value="1">{t('search.rerank_on')}</option>
                  <option value="0">{t('search.rerank_off')}</option>
                </Select>
              )}
            </Field>
            <Field label={t('search.fileType')}>
              {(ids) => (
                <Select {...ids} value={type ?? ''} onChange={(event) => change({ type: event.target.value || undefined })}>
                  <option value="">{t('search.anyType')}</option>
                  {Object.keys(families).map((family) => (
                    <option key={family} value={family}>
                      {t(`search.type_${family}`)}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            <Field label={t('search.minimum')} hint={t('search.minimumHint')}>
              {(ids) => (
                <Input
                  {...ids}
                  type="number"
                  min={0}
                  max={1}
                  step={0.05}
                  value={min ?? ''}
                  onChange={(event) => change({ min: Number(event.target.value) || undefined })}
                />
              )}
            </Field>
          </div>
          <FilterBuilder clauses={settings.where ?? []} fields={fields} onChange={(where) => change({ where })} />
          {children}
        </div>
      </details>
    </>
  );
}
