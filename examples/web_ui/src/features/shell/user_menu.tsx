import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Gauge, KeySquare, LogOut, ServerCog, UserRound } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { identity } from '@/api/identity';
import { identityQuery } from '@/api/queries';
import { useStore } from '@/api/store';
import { Menu, MenuItem, MenuLine } from '@/ui/menu';
import { useSignOut } from './use_switch';

const SwitchDialog = lazy(() => import('./switch_dialog').then((module) => ({ default: module.SwitchDialog })));
const icon = { size: 16, 'aria-hidden': true } as const;

export function UserMenu() {
  const { t } = useTranslation();
  const { user, token, capability } = useStore(identity);
  const { data: who } = useQuery(identityQuery);
  const navigate = useNavigate();
  const signOut = useSignOut();
  const [asking, setAsking] = useState(false);
  // Who has not signed in yet is nobody.
  if (token === null && who && !who.ways.includes('header')) return null;
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
        <p className="max-w-56 px-2.5 py-1.5 text-xs text-soft">
          {t('user.signedInAs', { user })}
          {capability !== 'admin' && <span className="block">{t(`user.may_${capability}`)}</span>}
        </p>
        <MenuLine />
        {who?.ways.includes('api_key') && capability === 'admin' && (
          <MenuItem icon={<KeySquare {...icon} />} onSelect={() => void navigate({ to: '/keys' })}>
            {t('nav.keys')}
          </MenuItem>
        )}
        <MenuItem icon={<Gauge {...icon} />} onSelect={() => void navigate({ to: '/usage' })}>
          {t('nav.usage')}
        </MenuItem>
        <MenuItem icon={<ServerCog {...icon} />} onSelect={() => void navigate({ to: '/operator' })}>
          {t('nav.operator')}
        </MenuItem>
        <MenuLine />
        {token === null ? (
          <MenuItem icon={<UserRound {...icon} />} onSelect={() => setAsking(true)}>
            {t('user.switch')}
          </MenuItem>
        ) : (
          <MenuItem icon={<LogOut {...icon} />} onSelect={() => void signOut()}>
            {t('user.signOut')}
          </MenuItem>
        )}
      </Menu>
      {asking && (
        <Suspense fallback={null}>
          <SwitchDialog onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}
