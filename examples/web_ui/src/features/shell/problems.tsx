import { useQueryClient } from '@tanstack/react-query';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { CloudOff, Compass, RotateCw, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connection, probe, serviceUrl } from '@/api/connection';
import { ApiError } from '@/api/errors';
import { useStore } from '@/api/store';
import { Button, buttonClass } from '@/ui/button';
import { errorText } from '@/ui/message';

interface ProblemProps {
  icon: ReactNode;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}

export function Problem({ icon, title, children, action }: ProblemProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-3 px-4 py-20 text-center">
      <div className="flex size-12 items-center justify-center rounded-2xl bg-accent-wash text-accent">{icon}</div>
      <h1 className="text-xl font-semibold">{title}</h1>
      <div className="text-sm text-soft">{children}</div>
      {action}
    </div>
  );
}

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Problem
      icon={<Compass size={24} aria-hidden="true" />}
      title={t('problem.notFoundTitle')}
      action={
        <Link to="/" className={buttonClass('primary')}>
          {t('problem.toStart')}
        </Link>
      }
    >
      {t('problem.notFoundText')}
    </Problem>
  );
}

/** The whole page while the service has never answered; it tries again by itself. */
export function Unreachable() {
  const { t } = useTranslation();
  const { reason } = useStore(connection);
  const [asking, setAsking] = useState(false);
  return (
    <Problem
      icon={<CloudOff size={24} aria-hidden="true" />}
      title={t('problem.unreachableTitle')}
      action={
        <Button
          variant="primary"
          busy={asking}
          icon={<RotateCw size={16} aria-hidden="true" />}
          onClick={async () => {
            setAsking(true);
            await probe();
            setAsking(false);
          }}
        >
          {t('common.retry')}
        </Button>
      }
    >
      <p>{t('problem.unreachableText')}</p>
      <p className="mt-2 font-mono text-xs">{serviceUrl.href}</p>
      {reason && <p className="mt-1 text-xs">{reason}</p>}
    </Problem>
  );
}

/** A failed load in place of a page's content. */
export function LoadFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation();
  if (error instanceof ApiError && error.unreachable) return <Unreachable />;
  if (error instanceof ApiError && error.status === 404) return <NotFound />;
  return (
    <Problem
      icon={<TriangleAlert size={24} aria-hidden="true" />}
      title={t('problem.failedTitle')}
      action={
        <Button variant="primary" onClick={onRetry} icon={<RotateCw size={16} aria-hidden="true" />}>
          {t('common.retry')}
        </Button>
      }
    >
      {errorText(error)}
    </Problem>
  );
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const cache = useQueryClient();
  return (
    <LoadFailed
      error={error}
      onRetry={() => {
        void cache.resetQueries();
        reset();
        void router.invalidate();
      }}
    />
  );
}
