import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PauseTarget } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Select } from '@/ui/field';

const kinds = ['tenant', 'knowledge_base'] as const;

export function PauseDialog({ onClose, onPause }: { onClose: () => void; onPause: (target: PauseTarget & { reason: string }) => void }) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<(typeof kinds)[number]>('tenant');
  const [id, setId] = useState('');
  const [reason, setReason] = useState('');
  const [error, setError] = useState('');
  const first = useRef<HTMLSelectElement>(null);
  const submit = () => {
    const target = id.trim();
    if (!target) return setError(t('operator.targetMissing'));
    onPause({ ...(kind === 'tenant' ? { user_id: target } : { knowledge_base_id: target }), reason: reason.trim() });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('operator.pauseTitle')}
      description={t('operator.pauseText')}
      firstFocus={first}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary">
            {t('operator.pause')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label={t('operator.what')}>
          {(ids) => (
            <Select {...ids} ref={first} value={kind} onChange={(event) => setKind(event.target.value as typeof kind)}>
              {kinds.map((item) => (
                <option key={item} value={item}>
                  {t(`operator.kind_${item}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t(`operator.id_${kind}`)} error={error}>
          {(ids) => (
            <Input
              {...ids}
              value={id}
              maxLength={255}
              autoComplete="off"
              onChange={(event) => {
                setId(event.target.value);
                setError('');
              }}
            />
          )}
        </Field>
        <Field label={t('operator.reason')} optional={t('common.optional')} hint={t('operator.reasonHint')}>
          {(ids) => <Input {...ids} value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />}
        </Field>
      </div>
    </Dialog>
  );
}
