import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity as Pulse } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { kbsQuery } from '@/api/queries';
import { movingCount } from '@/api/types';
import { uploads } from '@/features/upload/uploads';
import { IconButton } from '@/ui/button';

/** Running and failed work over all knowledge bases. */
export function Activity() {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const items = useSyncExternalStore(uploads.subscribe, uploads.get, uploads.get);
  const { data: kbs = [] } = useQuery({
    ...kbsQuery,
    refetchInterval: ({ state: { data } }) =>
      data?.some((kb) => movingCount(kb.status_counts) > 0) ? (open ? 2000 : 5000) : open ? 5000 : 30_000,
  });
  const rows = kbs
    .map((kb) => ({
      kb,
      sending: items.filter((item) => item.kbId === kb.id && (item.state === 'waiting' || item.state === 'sending')).length,
      working: movingCount(kb.status_counts),
      failed: kb.status_counts.error,
    }))
    .filter(({ sending, working, failed }) => sending + working + failed > 0);
  const busy = rows.reduce((sum, row) => sum + row.sending + row.working, 0);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <IconButton
          label={busy > 0 ? t('activity.buttonBusy', { count: busy }) : t('activity.button')}
          className="relative"
          icon={
            <>
              <Pulse size={18} aria-hidden="true" />
              {busy > 0 && <span aria-hidden="true" className="absolute top-1 right-1 size-2 rounded-full bg-accent ring-2 ring-surface" />}
            </>
          }
        />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label={t('activity.title')}
          className="z-40 w-80 max-w-[calc(100vw-1rem)] rounded-xl border border-line bg-raised p-2 shadow-float outline-none"
        >
          <p className="px-2 pt-1 pb-2 text-sm font-semibold">{t('activity.title')}</p>
          {rows.length === 0 ? (
            <p className="px-2 pb-2 text-sm text-soft">{t('activity.nothing')}</p>
          ) : (
            <ul className="max-h-80 overflow-y-auto">
              {rows.map(({ kb, sending, working, failed }) => (
                <li key={kb.id}>
                  <Link
                    to="/kb/$kbId"
                    params={{ kbId: kb.id }}
                    search={failed > 0 && sending + working === 0 ? { status: 'error' } : {}}
                    onClick={() => setOpen(false)}
                    className="block rounded-lg px-2 py-1.5 hover:bg-accent-wash"
                  >
                    <span className="block truncate text-sm font-medium">{kb.name}</span>
                    <span className="flex flex-wrap gap-x-3 text-xs text-soft">
                      {sending > 0 && <span>{t('activity.sending', { count: sending })}</span>}
                      {working > 0 && <span>{t('activity.working', { count: working })}</span>}
                      {failed > 0 && <span className="text-bad">{t('activity.failed', { count: failed })}</span>}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
