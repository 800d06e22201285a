import { SlidersHorizontal } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { KnowledgeBase } from '@/api/types';
import { Checkbox, Field, Input, Select } from '@/ui/field';
import { formatNumber } from '@/ui/format';
import { families, searchModes } from './filters';
import { standardTopK } from './params';

export interface SearchParams {
  q?: string;
  k?: number;
  min?: number;
  mode?: string;
  type?: string;
  doc?: string;
}

interface OptionsProps {
  kb: KnowledgeBase;
  params: SearchParams;
  onChange: (changes: SearchParams) => void;
}

const amounts = [3, 5, 10, 20, 50];

export function SearchOptions({ kb, params, onChange }: OptionsProps) {
  const { t } = useTranslation();
  const ownMode = kb.search_mode;
  const amount = params.k ?? standardTopK;
  return (
    <details className="text-sm" open={Boolean(params.k ?? params.min ?? params.mode ?? params.type ?? params.doc)}>
      <summary className="inline-flex min-h-7 items-center rounded px-1 text-[0.8125rem] gap-1.5 font-medium text-soft hover:text-ink">
        <SlidersHorizontal size={14} aria-hidden="true" />
        {t('search.options')}
      </summary>
      <div className="mt-2 grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <Field label={t('search.topK')}>
          {(ids) => (
            <Select {...ids} value={amount} onChange={(event) => onChange({ k: Number(event.target.value) === standardTopK ? undefined : Number(event.target.value) })}>
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
        {ownMode && (
          <Field label={t('search.mode')}>
            {(ids) => (
              <Select {...ids} value={params.mode ?? ownMode} onChange={(event) => onChange({ mode: event.target.value === ownMode ? undefined : event.target.value })}>
                {[...new Set([...searchModes, ownMode])].map((mode) => (
                  <option key={mode} value={mode}>
                    {searchModes.includes(mode) ? t(`search.mode_${mode}`) : mode}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field label={t('search.fileType')}>
          {(ids) => (
            <Select {...ids} value={params.type ?? ''} onChange={(event) => onChange({ type: event.target.value || undefined })}>
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
              value={params.min ?? ''}
              onChange={(event) => onChange({ min: Number(event.target.value) || undefined })}
            />
          )}
        </Field>
        {params.doc && (
          <label className="flex min-h-8 items-center gap-2.5 text-sm font-medium">
            <Checkbox checked onChange={() => onChange({ doc: undefined })} />
            {t('search.inDocument')}
          </label>
        )}
      </div>
    </details>
  );
}
