import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { BookOpen, CircleAlert, FileUp, Library, Plus, Search, SearchX } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { mayWrite } from '@/api/identity';
import { kbsQuery } from '@/api/queries';
import { type KnowledgeBase, movingCount } from '@/api/types';
import { LoadFailed } from '@/features/shell/problems';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/empty';
import { Input } from '@/ui/field';
import { formatAgo, formatNumber } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { Spinner } from '@/ui/spinner';

const loadCreateDialog = () => import('./create_dialog');
const CreateDialog = lazy(() => loadCreateDialog().then((module) => ({ default: module.CreateDialog })));

const ImportDialog = lazy(() => import('./import_dialog').then((module) => ({ default: module.ImportDialog })));

export function KnowledgeBasesPage() {
  const { t } = useTranslation();
  const { q = '' } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const { data, error, refetch } = useQuery(kbsQuery);
  const [creating, setCreating] = useState(false);
  const [importing, setImporting] = useState(false);
  useEffect(() => {
    // Loaded while nothing else happens, so that the dialog opens at once.
    const timer = setTimeout(() => void loadCreateDialog(), 200);
    return () => clearTimeout(timer);
  }, []);

  if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  const wanted = q.trim().toLowerCase();
  const shown = (data ?? []).filter((kb) => kb.name.toLowerCase().includes(wanted));
  const empty = data?.length === 0;
  const importButton = mayWrite() && (
    <Button icon={<FileUp size={17} aria-hidden="true" />} onClick={() => setImporting(true)}>
      {t('archive.import')}
    </Button>
  );
  const newButton = mayWrite() && (
    <Button variant="primary" icon={<Plus size={17} aria-hidden="true" />} onClick={() => setCreating(true)}>
      {t('kbs.new')}
    </Button>
  );

  return (
    <>
      <title>{t('kbs.title')}</title>
      <div className="mb-6 flex flex-wrap items-center gap-3">
        <h1 className="min-w-0 flex-1 basis-60 text-2xl font-semibold tracking-tight">{t('kbs.title')}</h1>
        {data && data.length > 0 && (
          <div className="relative order-last w-full sm:order-none sm:w-64">
            <Search size={16} aria-hidden="true" className="pointer-events-none absolute top-2.5 left-3 text-soft" />
            <Input
              type="search"
              value={q}
              aria-label={t('kbs.search')}
              placeholder={t('kbs.search')}
              className="pl-9"
              onChange={(event) => void navigate({ search: { q: event.target.value || undefined }, replace: true })}
            />
          </div>
        )}
        {data && !empty && importButton}
        {data && !empty && newButton}
      </div>
      {!data ? (
        <Loading />
      ) : empty ? (
        <EmptyState icon={<Library size={24} aria-hidden="true" />} title={t(mayWrite() ? 'kbs.emptyTitle' : 'kbs.emptyReadOnly')} action={
            <span className="flex flex-wrap justify-center gap-2">
              {newButton}
              {importButton}
            </span>
          }>
          {mayWrite() && (
            <ol className="mt-3 mb-2 grid gap-3 text-left sm:grid-cols-3">
              <Step number={1} icon={<Library size={16} aria-hidden="true" />} text={t('kbs.step1')} />
              <Step number={2} icon={<FileUp size={16} aria-hidden="true" />} text={t('kbs.step2')} />
              <Step number={3} icon={<Search size={16} aria-hidden="true" />} text={t('kbs.step3')} />
            </ol>
          )}
        </EmptyState>
      ) : shown.length === 0 ? (
        <EmptyState icon={<SearchX size={24} aria-hidden="true" />} title={t('kbs.noMatch', { query: q })} />
      ) : (
        <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
          {shown.map((kb) => (
            <KnowledgeBaseCard key={kb.id} kb={kb} />
          ))}
        </ul>
      )}
      {importing && (
        <Suspense fallback={null}>
          <ImportDialog onClose={() => setImporting(false)} />
        </Suspense>
      )}
      {creating && (
        <Suspense fallback={null}>
          <CreateDialog onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </>
  );
}

function Step({ number, icon, text }: { number: number; icon: React.ReactNode; text: string }) {
  return (
    <li className="flex flex-col gap-1.5 rounded-xl bg-sunken p-3 text-ink">
      <span className="flex items-center gap-2 text-xs font-semibold text-accent">
        <span aria-hidden="true">{formatNumber(number)}</span>
        {icon}
      </span>
      <span className="text-sm">{text}</span>
    </li>
  );
}

function KnowledgeBaseCard({ kb }: { kb: KnowledgeBase }) {
  const { t } = useTranslation();
  const working = movingCount(kb.status_counts);
  const failed = kb.status_counts.error;
  return (
    <li className="group relative flex flex-col rounded-2xl border border-line bg-surface p-5 shadow-card transition-shadow hover:border-line-strong/60 hover:shadow-float/20">
      <div className="flex items-start gap-3">
        <span className="flex size-9 shrink-0 items-center justify-center rounded-xl bg-accent-wash text-accent">
          <BookOpen size={18} aria-hidden="true" />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="leading-snug font-semibold">
            <Link to="/kb/$kbId" params={{ kbId: kb.id }} className="rounded-2xl after:absolute after:inset-0 after:rounded-2xl">
              {kb.name}
            </Link>
          </h2>
          <p className="mt-0.5 truncate text-[0.8125rem] text-soft">{kb.embedding_model_config.model}</p>
        </div>
      </div>
      {kb.description && <p className="mt-3 line-clamp-2 text-sm text-soft">{kb.description}</p>}
      <div className="mt-auto flex flex-wrap items-center gap-x-4 gap-y-1 pt-4 text-[0.8125rem] text-soft">
        <span>{t('kb.documents', { count: kb.document_count, shown: formatNumber(kb.document_count) })}</span>
        <span>{t('kb.chunks', { count: kb.chunk_count, shown: formatNumber(kb.chunk_count) })}</span>
        {working > 0 && (
          <span className="inline-flex items-center gap-1.5 text-accent">
            <Spinner size={13} />
            {t('kb.working', { count: working, shown: formatNumber(working) })}
          </span>
        )}
        {failed > 0 && (
          <span className="inline-flex items-center gap-1.5 text-bad">
            <CircleAlert size={13} aria-hidden="true" />
            {t('kb.failed', { count: failed, shown: formatNumber(failed) })}
          </span>
        )}
        <span className="ml-auto">{formatAgo(kb.updated_at)}</span>
      </div>
    </li>
  );
}
