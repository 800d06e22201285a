import { LogIn, UserRound } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { identity } from '@/api/identity';
import { useStore } from '@/api/store';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Menu, MenuItem } from '@/ui/menu';
import { Problem } from './problems';
import { useSwitch } from './use_switch';

const SwitchDialog = lazy(() => import('./switch_dialog').then((module) => ({ default: module.SwitchDialog })));

export function UserMenu() {
  const { t } = useTranslation();
  const { user } = useStore(identity);
  const [asking, setAsking] = useState(false);
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
        <MenuItem icon={<UserRound size={16} aria-hidden="true" />} onSelect={() => setAsking(true)}>
          {t('user.switch')}
        </MenuItem>
      </Menu>
      {asking && (
        <Suspense fallback={null}>
          <SwitchDialog onClose={() => setAsking(false)} />
        </Suspense>
      )}
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
