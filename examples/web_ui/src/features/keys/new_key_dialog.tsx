import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { apiKeys } from '@/api/calls';
import { toApiError } from '@/api/errors';
import { kbsQuery } from '@/api/queries';
import type { ApiKey, Capability } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Checkbox, Field, Input, Select } from '@/ui/field';
import { errorText } from '@/ui/message';

const capabilities: Capability[] = ['read', 'write', 'admin'];
const daySeconds = 86_400;
const lifetimes = [7, 30, 90, 365];

export function NewKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: (key: ApiKey & { key: string }) => void }) {
  const { t } = useTranslation();
  const { data: kbs = [] } = useQuery(kbsQuery);
  const [name, setName] = useState('');
  const [capability, setCapability] = useState<Capability>('read');
  const [days, setDays] = useState('90');
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [errors, setErrors] = useState<{ name?: string; kbs?: string }>({});
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const first = useRef<HTMLInputElement>(null);

  const submit = async () => {
    if (!name.trim()) return setErrors({ name: t('create.nameMissing') });
    if (chosen?.size === 0) return setErrors({ kbs: t('keys.kbsMissing') });
    setBusy(true);
    setProblem('');
    try {
      onMade(
        await apiKeys.create({
          name: name.trim(),
          capability,
          knowledge_base_ids: chosen && [...chosen],
          expires_in_seconds: days ? Number(days) * daySeconds : null,
        }),
      );
    } catch (cause) {
      const error = toApiError(cause);
      if (error.fields.name) setErrors({ name: error.fields.name });
      else setProblem(errorText(error));
      setBusy(false);
    }
  };

  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
    setErrors({});
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={t('keys.newTitle')}
      firstFocus={first}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" busy={busy}>
            {t('create.submit')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {problem && (
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        )}
        <Field label={t('create.name')} hint={t('keys.nameHint')} error={errors.name}>
          {(ids) => (
            <Input
              {...ids}
              ref={first}
              value={name}
              maxLength={200}
              autoComplete="off"
              onChange={(event) => {
                setName(event.target.value);
                setErrors({});
              }}
            />
          )}
        </Field>
        <Field label={t('keys.capability')} hint={t(`keys.hint_${capability}`)}>
          {(ids) => (
            <Select {...ids} value={capability} onChange={(event) => setCapability(event.target.value as Capability)}>
              {capabilities.map((item) => (
                <option key={item} value={item}>
                  {t(`keys.capability_${item}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t('keys.lifetime')}>
          {(ids) => (
            <Select {...ids} value={days} onChange={(event) => setDays(event.target.value)}>
              {lifetimes.map((item) => (
                <option key={item} value={item}>
                  {t('keys.days', { count: item })}
                </option>
              ))}
              <option value="">{t('keys.unlimited')}</option>
            </Select>
          )}
        </Field>
        <fieldset className="flex flex-col gap-1.5">
          <legend className="mb-1 text-sm font-medium">{t('nav.kbs')}</legend>
          <label className="flex min-h-7 items-center gap-2.5 text-sm">
            <Checkbox checked={chosen === null} onChange={(event) => setChosen(event.target.checked ? null : new Set())} />
            {t('keys.allKbs')}
          </label>
          {chosen !== null && (
            <ul className="max-h-44 overflow-y-auto rounded-lg border border-line p-2" tabIndex={0} aria-label={t('nav.kbs')}>
              {kbs.map((kb) => (
                <li key={kb.id}>
                  <label className="flex min-h-7 items-center gap-2.5 px-1 text-sm">
                    <Checkbox checked={chosen.has(kb.id)} onChange={(event) => choose(kb.id, event.target.checked)} />
                    <span className="min-w-0 truncate">{kb.name}</span>
                  </label>
                </li>
              ))}
            </ul>
          )}
          {errors.kbs && (
            <p role="alert" className="text-[0.8125rem] text-bad">
              {errors.kbs}
            </p>
          )}
        </fieldset>
      </div>
    </Dialog>
  );
}
