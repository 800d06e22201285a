import { useNavigate } from '@tanstack/react-router';
import { LogIn, UserRound } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Identity, identity, switchIdentity } from '@/api/identity';
import { queryClient } from '@/api/queries';
import { useStore } from '@/api/store';
import { uploads } from '@/features/upload/uploads';
import { forgetUnsent } from '@/features/upload/unsent';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Menu, MenuItem } from '@/ui/menu';
import { Problem } from './problems';

/** Another user starts from nothing: no cached answer, upload or address of the one before remains. */
function useSwitch() {
  const navigate = useNavigate();
  return async (next: Identity) => {
    uploads.clear();
    forgetUnsent(identity.get().user);
    await queryClient.cancelQueries();
    await navigate({ to: '/', replace: true });
    switchIdentity(next);
    queryClient.clear();
  };
}

export function UserMenu() {
  const { t } = useTranslation();
  const { user } = useStore(identity);
  const [asking, setAsking] = useState(false);
  const [name, setName] = useState('');
  const change = useSwitch();
  const submit = () => {
    const next = name.trim();
    if (!next) return;
    setAsking(false);
    if (next !== user) void change({ user: next, apiKey: null });
  };
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            className="inline-flex min-h-9 max-w-40 items-center gap-2 rounded-lg px-2 text-sm text-soft hover:bg-sunken hover:text-ink"
            aria-label={t('user.menu', { user })}
          >
            <UserRound size={18} aria-hidden="true" className="shrink-0" />
            <span className="hidden truncate sm:inline">{user}</span>
          </button>
        }
      >
        <p className="max-w-56 px-2.5 py-1.5 text-xs text-soft">{t('user.signedInAs', { user })}</p>
        <MenuItem
          icon={<UserRound size={16} aria-hidden="true" />}
          onSelect={() => {
            setName(user);
            setAsking(true);
          }}
        >
          {t('user.switch')}
        </MenuItem>
      </Menu>
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t('user.switch')}
        description={t('user.switchHint')}
        onSubmit={submit}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>{t('common.cancel')}</Button>
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
    </>
  );
}

/** Shown when the service does not know who calls: an API key, which stays in this tab. */
export function SignIn() {
  const { t } = useTranslation();
  const [key, setKey] = useState('');
  const change = useSwitch();
  return (
    <Problem icon={<LogIn size={24} aria-hidden="true" />} title={t('user.signInTitle')}>
      <p>{t('user.signInText')}</p>
      <form
        className="mt-4 flex flex-col gap-3 text-left text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim()) void change({ user: identity.get().user, apiKey: key.trim() });
        }}
      >
        <Field label={t('user.apiKey')}>
          {(ids) => (
            <Input {...ids} type="password" value={key} autoComplete="off" onChange={(event) => setKey(event.target.value)} />
          )}
        </Field>
        <Button type="submit" variant="primary">
          {t('user.signIn')}
        </Button>
      </form>
    </Problem>
  );
}
