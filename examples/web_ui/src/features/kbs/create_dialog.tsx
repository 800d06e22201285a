import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { knowledgeBases } from '@/api/calls';
import { toApiError } from '@/api/errors';
import { chunkersQuery, keys } from '@/api/queries';
import { CredentialDialog } from '@/features/credentials/credential_dialog';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Select, Textarea } from '@/ui/field';
import { errorText } from '@/ui/message';
import { type FormValues, SchemaForm, sentValues, startValues } from '@/ui/schema_form';
import { ModelPicker, useModelPick } from './model_picker';

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const pick = useModelPick();
  const { data: chunkers = [] } = useQuery({ ...chunkersQuery, retry: false });

  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [chunkerType, setChunkerType] = useState('');
  const [chunking, setChunking] = useState<FormValues>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const [addingCredential, setAddingCredential] = useState(false);
  const nameInput = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);

  const { choices, choice } = pick;
  const chunker = chunkers.find((item) => item.type === chunkerType) ?? chunkers[0];

  const clear = (field: string) => setErrors(({ [field]: _, ...others }) => others);

  const refuse = (found: Record<string, string>) => {
    setErrors(found);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
  };

  const submit = async () => {
    if (busy) return;
    const found: Record<string, string> = {};
    if (!name.trim()) found.name = t('create.nameMissing');
    if (choice && !pick.complete) found.model = t('create.modelMissing');
    if (Object.keys(found).length > 0 || !pick.config) return refuse(found);
    setBusy(true);
    setProblem('');
    try {
      const parameters = chunker ? sentValues(chunker.parameter_schema, chunking) : {};
      const { knowledge_base_id: kbId } = await knowledgeBases.create({
        name: name.trim(),
        description: description.trim(),
        embedding_model_config: pick.config,
        chunker_config: chunker ? { type: chunker.type, parameters } : null,
      });
      void cache.invalidateQueries({ queryKey: keys.kbs });
      onClose();
      await navigate({ to: '/kb/$kbId', params: { kbId } });
    } catch (cause) {
      const error = toApiError(cause);
      const known = Object.fromEntries(Object.entries(error.fields).filter(([field]) => field === 'name' || field in chunking));
      if (error.code === 'duplicate_name') known.name = errorText(error);
      if (Object.keys(known).length > 0) refuse(known);
      else setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={t('create.title')}
      firstFocus={nameInput}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" busy={busy} disabled={!choice}>
            {t('create.submit')}
          </Button>
        </>
      }
    >
      <div ref={box} className="flex flex-col gap-4">
        {problem && (
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        )}
        <Field label={t('create.name')} error={errors.name}>
          {(ids) => (
            <Input
              {...ids}
              ref={nameInput}
              value={name}
              maxLength={200}
              autoComplete="off"
              required
              onChange={(event) => {
                setName(event.target.value);
                clear('name');
              }}
            />
          )}
        </Field>
        <Field label={t('create.description')} optional={t('common.optional')}>
          {(ids) => <Textarea {...ids} rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />}
        </Field>
        <ModelPicker pick={pick} error={errors.model} onTyped={() => clear('model')} />
        <div>
          <Button variant="ghost" size="sm" icon={<KeyRound size={15} aria-hidden="true" />} onClick={() => setAddingCredential(true)}>
            {t('create.otherProvider')}
          </Button>
        </div>
        {chunker && (
          <details className="rounded-lg border border-line">
            <summary className="rounded-lg px-3 py-2 text-sm font-medium hover:bg-sunken">{t('create.chunking')}</summary>
            <div className="grid gap-4 px-3 pt-1 pb-3 sm:grid-cols-2">
              {chunkers.length > 1 && (
                <Field label={t('create.chunker')}>
                  {(ids) => (
                    <Select
                      {...ids}
                      value={chunker.type}
                      onChange={(event) => {
                        setChunkerType(event.target.value);
                        setChunking({});
                      }}
                    >
                      {chunkers.map((item) => (
                        <option key={item.type}>{item.type}</option>
                      ))}
                    </Select>
                  )}
                </Field>
              )}
              <SchemaForm
                schema={chunker.parameter_schema}
                values={{ ...startValues(chunker.parameter_schema), ...chunking }}
                errors={errors}
                onChange={(field, value) => {
                  setChunking((before) => ({ ...before, [field]: value }));
                  clear(field);
                }}
              />
            </div>
          </details>
        )}
      </div>
      {addingCredential && (
        <CredentialDialog
          onClose={() => setAddingCredential(false)}
          onSaved={(id) => {
            const [first] = choices.filter((item) => item.credential.id === id);
            pick.choose(first?.key ?? `${id}/`);
          }}
        />
      )}
    </Dialog>
  );
}
