import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useMatchRoute, useNavigate, useParams } from '@tanstack/react-router';
import { ChevronLeft, FileText, Search, SlidersHorizontal } from 'lucide-react';
import { Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { kbQuery } from '@/api/queries';
import { LoadFailed } from '@/features/shell/problems';
import { Banner } from '@/ui/banner';
import { Loading } from '@/ui/loading';

const tab =
  'inline-flex min-h-10 items-center gap-2 border-b-2 border-transparent px-1 text-sm font-medium text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink';

/** What all pages of one knowledge base share: its name and the way between them. */
export function KnowledgeBaseFrame() {
  const { t } = useTranslation();
  const { kbId } = useParams({ from: '/kb/$kbId' });
  const { data: kb, error, refetch } = useQuery(kbQuery(kbId));
  const navigate = useNavigate();
  const matchRoute = useMatchRoute();
  const searching = matchRoute({ to: '/kb/$kbId/search' }) !== false;
  useEffect(() => {
    if (searching) return;
    // The search page answers the same keys by taking the focus into its field.
    const go = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || document.querySelector('[role=dialog]')) return;
      event.preventDefault();
      void navigate({ to: '/kb/$kbId/search', params: { kbId } });
    };
    window.addEventListener('keydown', go);
    return () => window.removeEventListener('keydown', go);
  }, [kbId, navigate, searching]);
  const inDocument = matchRoute({ to: '/kb/$kbId/doc/$documentId', fuzzy: true }) !== false;
  if (error && !kb) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  if (!kb) return <Loading />;
  return (
    <>
      {!inDocument && (
        <div className="mb-5">
          <Link to="/" className="inline-flex min-h-7 items-center gap-1 rounded text-[0.8125rem] text-soft hover:text-ink">
            <ChevronLeft size={15} aria-hidden="true" />
            {t('nav.kbs')}
          </Link>
          <h1 className="mt-0.5 text-2xl font-semibold tracking-tight">
            {kb.name}
            {kb.permission && kb.permission !== 'owner' && (
              <span className="ml-3 inline-block rounded-md bg-sunken px-2 py-0.5 align-middle text-xs font-medium tracking-normal text-soft">
                {t(`share.with_${kb.permission}`)}
              </span>
            )}
          </h1>
          {kb.description && <p className="mt-1 max-w-3xl text-sm text-soft">{kb.description}</p>}
          <nav aria-label={t('kb.pages')} className="mt-3 flex gap-5 border-b border-line">
            <Link to="/kb/$kbId" params={{ kbId }} className={tab} activeOptions={{ exact: true, includeSearch: false }}>
              <FileText size={16} aria-hidden="true" />
              {t('kb.tabDocuments')}
            </Link>
            <Link to="/kb/$kbId/search" params={{ kbId }} className={tab} activeOptions={{ includeSearch: false }}>
              <Search size={16} aria-hidden="true" />
              {t('kb.tabSearch')}
            </Link>
            <Link to="/kb/$kbId/settings" params={{ kbId }} className={tab}>
              <SlidersHorizontal size={16} aria-hidden="true" />
              {t('kb.tabSettings')}
            </Link>
          </nav>
        </div>
      )}
      {kb.paused_reason !== null && kb.paused_reason !== undefined && (
        <div className="mb-4">
          <Banner tone="warn">
            {t('operator.pausedHere')} {kb.paused_reason}
          </Banner>
        </div>
      )}
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
    </>
  );
}
