import { Plus, X } from 'lucide-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '@/ui/button';
import { Input, Select } from '@/ui/field';
import { type Clause, isComplete, operators, takesValue } from './clauses';

interface FilterBuilderProps {
  clauses: Clause[];
  /** Names of fields that are known to be there. */
  fields: string[];
  onChange: (clauses: Clause[]) => void;
}

/** Conditions on metadata, one per line; a line counts when it is complete. */
export function FilterBuilder({ clauses, fields, onChange }: FilterBuilderProps) {
  const { t } = useTranslation();
  const [lines, setLines] = useState<Clause[]>(clauses);
  const [seen, setSeen] = useState(clauses);
  const listId = useId();
  const same = (one: Clause[], other: Clause[]) => JSON.stringify(one) === JSON.stringify(other);
  if (!same(seen, clauses)) {
    setSeen(clauses);
    if (!same(lines.filter(isComplete), clauses)) setLines(clauses);
  }

  const change = (next: Clause[], now: boolean) => {
    setLines(next);
    if (now) commit(next);
  };
  const commit = (from = lines) => {
    const complete = from.filter(isComplete);
    if (!same(complete, clauses)) onChange(complete);
  };
  const withLine = (index: number, clause: Clause) => lines.map((line, place) => (place === index ? clause : line));

  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t('filter.title')}</legend>
      <datalist id={listId}>
        {fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      {lines.map(([field, operator, value], index) => (
        <div
          key={index}
          role="group"
          aria-label={t('filter.line', { number: index + 1 })}
          className="flex flex-wrap items-center gap-2"
          onBlur={() => commit()}
        >
          <Input
            className="min-w-0 flex-1 basis-28"
            list={listId}
            value={field}
            aria-label={t('filter.field')}
            placeholder={t('filter.field')}
            maxLength={200}
            onChange={(event) => change(withLine(index, [event.target.value, operator, value]), false)}
            onKeyDown={(event) => event.key === 'Enter' && stop(event, commit)}
          />
          <div className="w-32 shrink-0">
            <Select
              value={operator}
              aria-label={t('filter.operator')}
              onChange={(event) => change(withLine(index, [field, event.target.value, value]), true)}
            >
              {operators.map((item) => (
                <option key={item} value={item}>
                  {t(`filter.op_${item}`)}
                </option>
              ))}
            </Select>
          </div>
          {takesValue(operator) && (
            <Input
              className="min-w-0 flex-1 basis-28"
              value={value}
              aria-label={t('filter.value')}
              placeholder={operator === 'in' ? t('filter.values') : t('filter.value')}
              onChange={(event) => change(withLine(index, [field, operator, event.target.value]), false)}
              onKeyDown={(event) => event.key === 'Enter' && stop(event, commit)}
            />
          )}
          <IconButton
            label={t('filter.remove', { number: index + 1 })}
            icon={<X size={16} aria-hidden="true" />}
            onClick={() => change(lines.filter((_, place) => place !== index), true)}
          />
        </div>
      ))}
      <div>
        <Button
          size="sm"
          icon={<Plus size={14} aria-hidden="true" />}
          onClick={() => change([...lines, ['', 'is', '']], false)}
        >
          {t('filter.add')}
        </Button>
      </div>
    </fieldset>
  );
}

function stop(event: React.KeyboardEvent, then: () => void): void {
  event.preventDefault();
  then();
}
