import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';

/** Asks for the operator key, which this tab keeps until it is closed. */
export function OperatorKeyForm({ wrong, onKey }: { wrong: boolean; onKey: (key: string) => void }) {
  const { t } = useTranslation();
  const [key, setKey] = useState('');
  const [touched, setTouched] = useState(false);
  return (
    <form
      noValidate
      className="flex max-w-md flex-col gap-3 rounded-2xl border border-line bg-surface p-5 shadow-card"
      onSubmit={(event) => {
        event.preventDefault();
        setTouched(false);
        if (key.trim()) onKey(key.trim());
      }}
    >
      <Field label={t('operator.key')} hint={t('operator.keyHint')} error={wrong && !touched ? t('operator.keyWrong') : undefined}>
        {(ids) => (
          <Input
            {...ids}
            type="password"
            value={key}
            autoComplete="off"
            onChange={(event) => {
              setKey(event.target.value);
              setTouched(true);
            }}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" className="self-start">
        {t('operator.enter')}
      </Button>
    </form>
  );
}
