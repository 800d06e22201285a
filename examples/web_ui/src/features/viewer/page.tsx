import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronLeft, Download, FileX2, RotateCw, Trash2 } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { documents } from '@/api/calls';
import { kbQuery, keys } from '@/api/queries';
import { type Chunk, isMoving, type KnowledgeDocument } from '@/api/types';
import { download, useDocumentActions } from '@/features/documents/actions';
import { DetailsDialog } from '@/features/documents/details_dialog';
import { DocumentState } from '@/features/documents/status';
import { warningText } from '@/features/documents/warnings';
import { LoadFailed, NotFound } from '@/features/shell/problems';
import { Banner } from '@/ui/banner';
import { Button, IconButton } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { EmptyState } from '@/ui/empty';
import { formatBytes, formatNumber, formatTime } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { errorText, failureText } from '@/ui/message';
import { ChunkList } from './chunk_list';
import { Original } from './original';
import { useWide } from './use_wide';

const chunksPerCall = 128;
const mostChunks = 4096;
const icon = { size: 16, 'aria-hidden': true } as const;

/** All chunks, a bounded number of them, page after page. */
async function allChunks(kbId: string, documentId: string): Promise<{ chunks: Chunk[]; total: number }> {
  const chunks: Chunk[] = [];
  let total = 0;
  for (let page = 1; chunks.length < mostChunks; page += 1) {
    const got = await documents.chunks(kbId, documentId, page, chunksPerCall);
    chunks.push(...got.chunks);
    total = Math.max(got.total, chunks.length);
    if (got.chunks.length === 0 || chunks.length >= got.total) break;
  }
  return { chunks, total };
}

export function DocumentPage() {
  const { kbId, documentId } = useParams({ from: '/kb/$kbId/doc/$documentId' });
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.document(kbId, documentId),
    queryFn: () => documents.get(kbId, documentId),
    refetchInterval: ({ state: { data: seen } }) => (seen && isMoving(seen.status) ? 1000 : false),
  });
  if (isPending) return <Loading />;
  if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  if (!data) return <NotFound />;
  return <DocumentView key={data.id} kbId={kbId} document={data} />;
}

function DocumentView({ kbId, document }: { kbId: string; document: KnowledgeDocument }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { data: kb } = useQuery(kbQuery(kbId));
  const params = useSearch({ from: '/kb/$kbId/doc/$documentId' });
  const { remove, reindex } = useDocumentActions(kbId);
  const [asking, setAsking] = useState(false);
  const [showingDetails, setShowingDetails] = useState(false);
  const [problem, setProblem] = useState('');
  const listing = useQuery({
    queryKey: [...keys.chunks(kbId, document.id), document.status, document.chunk_count],
    queryFn: () => allChunks(kbId, document.id),
    enabled: document.chunk_count > 0 || document.status === 'ready',
    staleTime: 60_000,
  });
  const chunks = useMemo(() => listing.data?.chunks ?? [], [listing.data]);
  const chunk = useMemo(() => chunks.find((item) => item.chunk_index === params.chunk) ?? null, [chunks, params.chunk]);

  const retry = async () => {
    setProblem('');
    const { failures } = await reindex([document.id]);
    if (failures[0]) setProblem(failures[0]);
    await cache.invalidateQueries({ queryKey: keys.document(kbId, document.id) });
  };
  const leave = async () => {
    const { failures } = await remove([document.id]);
    if (failures[0]) setProblem(failures[0]);
    else await navigate({ to: '/kb/$kbId', params: { kbId } });
  };

  const failed = document.status === 'error';
  const editable = kb?.editable ?? false;
  return (
    <>
      <title>{document.filename}</title>
      <div className="mb-4">
        <nav aria-label={t('kb.pages')} className="flex flex-wrap gap-x-4">
          <Link to="/kb/$kbId" params={{ kbId }} className="inline-flex min-h-7 items-center gap-1 rounded text-[0.8125rem] text-soft hover:text-ink">
            <ChevronLeft size={15} aria-hidden="true" />
            {kb?.name ?? t('kb.tabDocuments')}
          </Link>
          {document.chunk_count > 0 && !params.q && (
            <Link
              to="/kb/$kbId/search"
              params={{ kbId }}
              search={{ doc: document.id }}
              className="inline-flex min-h-7 items-center gap-1 rounded text-[0.8125rem] text-soft hover:text-ink"
            >
              {t('viewer.searchHere')}
            </Link>
          )}
          {params.q && (
            <Link
              to="/kb/$kbId/search"
              params={{ kbId }}
              search={{ q: params.q }}
              className="inline-flex min-h-7 items-center gap-1 rounded text-[0.8125rem] text-soft hover:text-ink"
            >
              {t('viewer.backToSearch')}
            </Link>
          )}
        </nav>
        <div className="mt-0.5 flex flex-wrap items-start gap-x-3 gap-y-2">
          <h1 className="min-w-0 flex-1 basis-60 text-xl font-semibold tracking-tight">{document.filename}</h1>
          <div className="flex gap-1">
            <Button
              size="sm"
              icon={<Download {...icon} />}
              onClick={() => void download(kbId, document.id).catch((cause: unknown) => setProblem(errorText(cause)))}
            >
              {t('table.download')}
            </Button>
            {editable && !isMoving(document.status) && (
              <Button size="sm" icon={<RotateCw {...icon} />} onClick={() => void retry()}>
                {failed ? t('common.retry') : t('table.reindex')}
              </Button>
            )}
            {editable && <IconButton label={t('table.delete')} icon={<Trash2 {...icon} />} onClick={() => setAsking(true)} />}
          </div>
        </div>
        <div className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1 text-[0.8125rem] text-soft">
          <DocumentState document={document} />
          <span>{formatBytes(document.size)}</span>
          <span>{t('kb.chunks', { count: document.chunk_count, shown: formatNumber(document.chunk_count) })}</span>
          <span>{formatTime(document.created_at)}</span>
        </div>
      </div>
      <div className="flex flex-col gap-3 not-empty:mb-4">
        {problem && (
          <Banner tone="bad" role="alert">
            {problem}
          </Banner>
        )}
        {failed && (
          <Banner
            tone="bad"
            action={
              <Button size="sm" onClick={() => setShowingDetails(true)}>
                {t('table.details')}
              </Button>
            }
          >
            {failureText(document)}
          </Banner>
        )}
        {document.status === 'ready' &&
          document.warnings?.map((warning, index) => (
            <Banner key={index} tone="warn">
              {warningText(warning)}
            </Banner>
          ))}
      </div>
      <Panes
        original={<Original kbId={kbId} document={document} chunk={chunk} page={params.page} chunks={chunks} />}
        chunks={
          chunks.length > 0 ? (
            <ChunkList
              chunks={chunks}
              total={listing.data?.total ?? chunks.length}
              current={params.chunk}
              query={params.q}
              kbId={kbId}
              documentId={document.id}
            />
          ) : listing.isFetching ? (
            <Loading />
          ) : (
            <EmptyState icon={<FileX2 size={24} aria-hidden="true" />} title={t('viewer.noChunks')}>
              {listing.error ? errorText(listing.error) : isMoving(document.status) ? t('viewer.chunksLater') : undefined}
            </EmptyState>
          )
        }
      />
      {showingDetails && (
        <DetailsDialog document={document} onClose={() => setShowingDetails(false)} onRetry={editable ? () => void retry() : undefined} />
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => void leave()}
        title={t('bulk.deleteOneTitle', { name: document.filename })}
        description={t('bulk.deleteOneText', { count: document.chunk_count, shown: formatNumber(document.chunk_count) })}
        verb={t('bulk.deleteVerb', { count: 1, shown: formatNumber(1) })}
      />
    </>
  );
}

const pane = 'rounded-2xl border border-line bg-surface p-4 shadow-card overflow-y-auto outline-offset-[-2px]';
const tall = 'h-[calc(100dvh-13rem)] min-h-96';

/** Side by side where there is room, one behind the other where there is not. */
function Panes({ original, chunks }: { original: React.ReactNode; chunks: React.ReactNode }) {
  const { t } = useTranslation();
  const wide = useWide();
  if (wide)
    return (
      <div className="grid grid-cols-[minmax(0,1.35fr)_minmax(0,1fr)] gap-4">
        <section aria-label={t('viewer.original')} data-pane tabIndex={0} className={`${pane} ${tall}`}>
          {original}
        </section>
        <section aria-label={t('viewer.chunks')} data-pane tabIndex={0} className={`${pane} ${tall} pt-4`}>
          {chunks}
        </section>
      </div>
    );
  const tab =
    'min-h-10 flex-1 rounded-lg text-sm font-medium text-soft data-[state=active]:bg-surface data-[state=active]:text-ink data-[state=active]:shadow-card';
  return (
    <Tabs.Root defaultValue="original">
      <Tabs.List aria-label={t('viewer.views')} className="mb-3 flex gap-1 rounded-xl bg-sunken p-1">
        <Tabs.Trigger value="original" className={tab}>
          {t('viewer.original')}
        </Tabs.Trigger>
        <Tabs.Trigger value="chunks" className={tab}>
          {t('viewer.chunks')}
        </Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="original" data-pane className={`${pane} ${tall}`}>
        {original}
      </Tabs.Content>
      <Tabs.Content value="chunks" data-pane className={`${pane} ${tall}`}>
        {chunks}
      </Tabs.Content>
    </Tabs.Root>
  );
}
