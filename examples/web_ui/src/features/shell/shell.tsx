import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { KeyRound, Library } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { connection } from '@/api/connection';
import { ApiError } from '@/api/errors';
import { identity, refused, sessionNumber } from '@/api/identity';
import { kbsQuery } from '@/api/queries';
import { useStore } from '@/api/store';
import { Activity } from '@/features/activity/activity';
import { Banner } from '@/ui/banner';
import { LiveRegion } from '@/ui/live';
import { Loading } from '@/ui/loading';
import { Spinner } from '@/ui/spinner';
import { Preferences } from './preferences';
import { Unreachable } from './problems';
import { UserMenu } from './user_menu';

const SignIn = lazy(() => import('./sign_in').then((module) => ({ default: module.SignIn })));

const navLink =
  'inline-flex min-h-9 items-center gap-2 rounded-lg px-2.5 text-sm font-medium text-soft hover:bg-sunken hover:text-ink aria-[current=page]:text-ink aria-[current=page]:bg-sunken';

export function Shell() {
  const { t } = useTranslation();
  const session = useStore(sessionNumber);
  const { capability } = useStore(identity);
  return (
    <div className="flex min-h-dvh flex-col" key={session}>
      <a
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
        className="sr-only z-50 rounded-lg bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {t('nav.skip')}
      </a>
      <header className="sticky top-0 z-30 border-b border-line bg-surface/90 backdrop-blur-md">
        <div className="mx-auto flex min-h-14 w-full max-w-7xl items-center gap-1 px-3 sm:gap-2 sm:px-6">
          <Link to="/" className="mr-1 flex items-center gap-2.5 rounded-lg py-1 pr-1 font-semibold sm:mr-4" aria-label={t('nav.home')}>
            <Logo />
            <span className="hidden md:inline">{t('nav.product')}</span>
          </Link>
          <nav aria-label={t('nav.main')} className="flex flex-1 items-center gap-1">
            <Link to="/" className={navLink} activeOptions={{ exact: false, includeSearch: false }}>
              <Library size={17} aria-hidden="true" />
              <span className="hidden sm:inline">{t('nav.kbs')}</span>
              <span className="sr-only sm:hidden">{t('nav.kbs')}</span>
            </Link>
            {capability === 'admin' && (
              <Link to="/credentials" className={navLink}>
                <KeyRound size={17} aria-hidden="true" />
                <span className="hidden sm:inline">{t('nav.credentials')}</span>
                <span className="sr-only sm:hidden">{t('nav.credentials')}</span>
              </Link>
            )}
          </nav>
          <Activity />
          <Preferences />
          <UserMenu />
        </div>
      </header>
      <main id="main" tabIndex={-1} className="mx-auto flex w-full max-w-7xl flex-1 flex-col px-3 py-5 outline-none sm:px-6 sm:py-7">
        <Content />
      </main>
      <LiveRegion />
    </div>
  );
}

/** The page, or why there is none: not reachable from the start, or not signed in. */
function Content() {
  const { t } = useTranslation();
  const { reachable } = useStore(connection);
  const { error, data } = useQuery(kbsQuery);
  const out = useStore(refused);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const nothingYet = error instanceof ApiError && data === undefined;
  if (nothingYet && error.unreachable) return <Unreachable />;
  // Whoever runs the service may be no user of it.
  if (path !== '/operator' && (out || (nothingYet && error.status === 401)))
    return (
      <Suspense fallback={<Loading />}>
        <SignIn />
      </Suspense>
    );
  return (
    <>
      {!reachable && (
        <div className="mb-4">
          <Banner tone="warn" role="status">
            <span className="flex items-center gap-2">
              {t('problem.notUpdating')} <Spinner />
            </span>
          </Banner>
        </div>
      )}
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
    </>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-7 shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="9" className="fill-accent" />
      <g className="stroke-on-accent" fill="none" strokeWidth="2.4" strokeLinecap="round">
        <path d="M9 9.5h9M9 15h6M9 20.5h4M23 22l2.6 2.6" />
        <circle cx="20" cy="19" r="4" />
      </g>
    </svg>
  );
}
