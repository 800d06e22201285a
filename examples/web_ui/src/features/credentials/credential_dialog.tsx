import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { credentials } from '@/api/calls';
import { toApiError } from '@/api/errors';
import { keys, schemasQuery } from '@/api/queries';
import type { Credential, ObjectSchema } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Select } from '@/ui/field';
import { Loading } from '@/ui/loading';
import { errorText } from '@/ui/message';
import { type FormValues, SchemaForm, sentValues, startValues } from '@/ui/schema_form';

const hidden = ['id', 'type'];
const typeOfSchema = (schema: ObjectSchema) => String(schema.properties?.type?.const ?? '');
const preferred = 'openai_credential';

interface CredentialDialogProps {
  onClose: () => void;
  onSaved?: (id: string) => void;
  /** The credential to change; none for a new one. */
  current?: Credential;
}

export function CredentialDialog({ onClose, onSaved, current }: CredentialDialogProps) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data: schemas } = useQuery(schemasQuery);
  const [chosenType, setChosenType] = useState(current?.data.type ?? preferred);
  const [edited, setEdited] = useState<FormValues>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLDivElement>(null);

  const schema = schemas?.find((item) => typeOfSchema(item) === chosenType) ?? schemas?.[0];
  const values = schema ? { ...startValues(schema, current?.data, hidden), ...edited } : {};

  const submit = async () => {
    if (!schema || busy) return;
    const sent = sentValues(schema, values);
    const missing = (schema.required ?? []).filter((name) => !hidden.includes(name) && sent[name] === undefined && !current);
    if (missing.length > 0) {
      setErrors(Object.fromEntries(missing.map((name) => [name, t('common.required')])));
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
      return;
    }
    setBusy(true);
    setProblem('');
    try {
      const data = { ...sent, type: typeOfSchema(schema) };
      const id = current ? (await credentials.update(current.id, data)).id : (await credentials.create(data)).credential_id;
      await Promise.all([keys.credentials, keys.models, keys.kbs].map((queryKey) => cache.invalidateQueries({ queryKey })));
      onSaved?.(id);
      onClose();
    } catch (cause) {
      const error = toApiError(cause);
      setErrors(error.fields);
      setProblem(Object.keys(error.fields).some((name) => name in values) ? '' : errorText(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={current ? t('credentials.editTitle', { name: current.data.name }) : t('credentials.newTitle')}
      description={t('credentials.secretNote')}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" busy={busy}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      {schema && schemas ? (
        <div ref={box} className="flex flex-col gap-4">
          {problem && <Banner tone="bad" role="alert">{problem}</Banner>}
          {!current && (
            <Field label={t('credentials.provider')}>
              {(ids) => (
                <Select
                  {...ids}
                  value={typeOfSchema(schema)}
                  onChange={(event) => {
                    setChosenType(event.target.value);
                    setEdited({});
                    setErrors({});
                  }}
                >
                  {schemas.map((item) => (
                    <option key={typeOfSchema(item)} value={typeOfSchema(item)}>
                      {item.title}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          )}
          <SchemaForm
            schema={schema}
            values={values}
            errors={errors}
            hidden={hidden}
            keepsSecrets={current !== undefined}
            onChange={(name, value) => {
              setEdited((before) => ({ ...before, [name]: value }));
              setErrors(({ [name]: _, ...others }) => others);
            }}
          />
        </div>
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}
