import { useTranslation } from 'react-i18next';
import type { ObjectSchema, SchemaProperty } from '@/api/types';
import { Checkbox, Field, Input, Select, Textarea } from './field';

export type FormValues = Record<string, string | boolean>;

export function typeOf(property: SchemaProperty): string {
  return property.type ?? property.anyOf?.find((option) => option.type && option.type !== 'null')?.type ?? 'string';
}

export function isSecret(property: SchemaProperty): boolean {
  return property.format === 'password' || property.writeOnly === true;
}

export function shownFields(schema: ObjectSchema, hidden: readonly string[] = []): [string, SchemaProperty][] {
  return Object.entries(schema.properties ?? {}).filter(([name, property]) => property.const === undefined && !hidden.includes(name));
}

/** Texts as typed; secrets always start empty. */
export function startValues(schema: ObjectSchema, current: Record<string, unknown> = {}, hidden: readonly string[] = []): FormValues {
  const values: FormValues = {};
  for (const [name, property] of shownFields(schema, hidden)) {
    const value = isSecret(property) ? '' : (current[name] ?? property.default);
    values[name] = typeOf(property) === 'boolean' ? value === true : value === null || value === undefined ? '' : String(value);
  }
  return values;
}

/** What the service expects: numbers as numbers, empty optional texts as null, untouched secrets left out. */
export function sentValues(schema: ObjectSchema, values: FormValues): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const property = schema.properties?.[name];
    if (!property) continue;
    if (typeof value === 'boolean') sent[name] = value;
    else if (value.trim() === '') {
      if (!isSecret(property) && property.anyOf?.some((option) => option.type === 'null')) sent[name] = null;
    } else sent[name] = ['integer', 'number'].includes(typeOf(property)) ? Number(value) : value.trim();
  }
  return sent;
}

interface SchemaFormProps {
  schema: ObjectSchema;
  values: FormValues;
  errors: Record<string, string>;
  onChange: (name: string, value: string | boolean) => void;
  hidden?: readonly string[];
  /** An edit: secrets that are stored stay when the field is left empty. */
  keepsSecrets?: boolean;
}

export function SchemaForm({ schema, values, errors, onChange, hidden, keepsSecrets }: SchemaFormProps) {
  const { t, i18n } = useTranslation();
  return shownFields(schema, hidden).map(([name, property]) => {
    const type = typeOf(property);
    const label = i18n.exists(`fields.${name}`) ? t(`fields.${name}`) : (property.title ?? name);
    const secret = isSecret(property);
    const required = schema.required?.includes(name) && !(secret && keepsSecrets);
    const value = values[name] ?? '';
    if (type === 'boolean')
      return (
        <label key={name} className="flex min-h-8 items-center gap-2.5 text-sm font-medium">
          <Checkbox checked={value === true} onChange={(event) => onChange(name, event.target.checked)} />
          {label}
        </label>
      );
    const text = String(value);
    return (
      <Field
        key={name}
        label={label}
        optional={required || type === 'integer' ? undefined : t('common.optional')}
        hint={secret && keepsSecrets ? t('credentials.keepSecret') : undefined}
        error={errors[name]}
      >
        {(ids) => {
          const shared = { ...ids, value: text, required };
          if (property.enum)
            return (
              <Select {...shared} onChange={(event) => onChange(name, event.target.value)}>
                {property.enum.map((option) => (
                  <option key={String(option)}>{String(option)}</option>
                ))}
              </Select>
            );
          if (property.format === 'textarea')
            return <Textarea {...shared} rows={3} onChange={(event) => onChange(name, event.target.value)} />;
          const number = type === 'integer' || type === 'number';
          return (
            <Input
              {...shared}
              type={secret ? 'password' : number ? 'number' : 'text'}
              autoComplete={secret ? 'new-password' : 'off'}
              min={property.minimum}
              max={property.maximum}
              placeholder={secret && keepsSecrets ? '••••••••' : undefined}
              onChange={(event) => onChange(name, event.target.value)}
            />
          );
        }}
      </Field>
    );
  });
}
