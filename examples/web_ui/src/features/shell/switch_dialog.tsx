import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { identity } from '@/api/identity';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { useSwitch } from './use_switch';

export function SwitchDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { user } = identity.get();
  const [name, setName] = useState(user);
  const change = useSwitch();
  const submit = () => {
    const next = name.trim();
    if (!next) return;
    onClose();
    if (next !== user) void change({ user: next, token: null, way: 'header', capability: 'admin' });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('user.switch')}
      description={t('user.switchHint')}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary">
            {t('user.switchButton')}
          </Button>
        </>
      }
    >
      <Field label={t('user.name')}>
        {(ids) => (
          <Input {...ids} value={name} maxLength={128} autoComplete="username" onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
    </Dialog>
  );
}
