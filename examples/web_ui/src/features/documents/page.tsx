import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connection } from '@/api/connection';
import { kbQuery, supportedQuery } from '@/api/queries';
import { useStore } from '@/api/store';
import { isMoving, type KnowledgeBase, type KnowledgeDocument, movingCount } from '@/api/types';
import { DropArea } from '@/features/upload/drop_area';
import { ReportDialog } from '@/features/upload/report_dialog';
import { UploadTray } from '@/features/upload/tray';
import { largestUpload } from '@/features/upload/triage';
import { UnsentNotice } from '@/features/upload/unsent_notice';
import { uploads, useUploads } from '@/features/upload/uploads';
import { useIntake } from '@/features/upload/use_intake';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { formatNumber } from '@/ui/format';
import { Loading } from '@/ui/loading';
import { errorText } from '@/ui/message';
import { download, gone, leaving, useDocumentActions } from './actions';
import { BulkBar } from './bulk_bar';
import { CommonFailure } from './common_failure';
import { DetailsDialog } from './details_dialog';
import { documentsQuery, type ListParams } from './list_query';
import { newer, useLive, useStatusPolling } from './live';
import type { RowActions } from './row';
import { SummaryBar, totalsOf } from './summary';
import { DocumentTable, Pages, TableToolbar } from './table';
import { useBulk } from './use_bulk';

export function DocumentsPage() {
  const { kbId } = useParams({ from: '/kb/$kbId/' });
  const { data: kb, dataUpdatedAt } = useQuery(kbQuery(kbId));
  return kb ? <Documents key={kb.id} kb={kb} countedAt={dataUpdatedAt} /> : <Loading />;
}

function Documents({ kb, countedAt }: { kb: KnowledgeBase; countedAt: number }) {
  const { t } = useTranslation();
  const params = useSearch({ from: '/kb/$kbId/' });
  const navigate = useNavigate({ from: '/kb/$kbId/' });
  const { reachable } = useStore(connection);
  const supported = useQuery(supportedQuery).data;
  const list = useQuery(documentsQuery(kb.id, params));
  const live = useLive(kb.id);
  const items = useUploads(kb.id);
  const intake = useIntake(kb);
  const actions = useDocumentActions(kb.id);
  const leavingIds = useStore(leaving);
  const goneIds = useStore(gone);
  const [details, setDetails] = useState<KnowledgeDocument | null>(null);
  const [problem, setProblem] = useState('');

  const rows = useMemo(
    () => (list.data?.documents ?? []).filter((row) => !goneIds.has(row.id)).map((row) => newer(row, live[row.id])),
    [list.data, live, goneIds],
  );
  const bulk = useBulk({ kb, rows, params, total: list.data?.total ?? 0, actions, onProblem: setProblem });

  const pollIds = useMemo(() => {
    const sent = items.flatMap((item) => (item.documentId ? [item.documentId] : []));
    const moving = rows.filter((row) => isMoving(row.status)).map((row) => row.id);
    return [...new Set([...sent, ...moving])];
  }, [items, rows]);
  const { failing } = useStatusPolling(kb.id, pollIds, movingCount(kb.status_counts));

  const change = useCallback(
    (changes: Partial<ListParams>) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: 'q' in changes }),
    [navigate],
  );

  const { select, retry, askRemove, clear: clearSelection } = bulk;
  const rowActions: RowActions = useMemo(
    () => ({
      select,
      details: setDetails,
      download: (document) => void download(kb.id, document.id).catch((cause: unknown) => setProblem(errorText(cause))),
      reindex: (document) => void retry([document.id]),
      remove: askRemove,
    }),
    [select, retry, askRemove, kb.id],
  );

  useEffect(() => {
    const clear = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('[role=dialog], [role=menu]')) clearSelection();
    };
    window.addEventListener('keydown', clear);
    return () => window.removeEventListener('keydown', clear);
  }, [clearSelection]);

  const totals = totalsOf(kb, countedAt, items);
  const filtered = Boolean(params.q ?? params.status ?? params.type);
  const empty = totals.total === 0 && !filtered;
  const shown = list.data && (rows.length > 0 || filtered || (params.page ?? 1) > 1);
  return (
    <div className="flex flex-col gap-4">
      <title>{kb.name}</title>
      {kb.editable && (
        <DropArea onFiles={(files) => void intake.offer(files)} busy={intake.checking} large={empty} limit={largestUpload(supported)} />
      )}
      {intake.unsent.length > 0 && (
        <UnsentNotice count={intake.unsent.length} onFiles={intake.resend} onForget={intake.forgetUnsent} />
      )}
      {problem && (
        <Banner
          tone="bad"
          role="alert"
          action={
            <Button size="sm" variant="ghost" onClick={() => setProblem('')}>
              {t('common.dismiss')}
            </Button>
          }
        >
          {problem}
        </Banner>
      )}
      <CommonFailure kbId={kb.id} rows={rows} />
      {totals.total > 0 && (
        <SummaryBar
          totals={totals}
          notUpdating={failing || !reachable}
          actions={
            <>
              {bulk.running && bulk.running.of > 1 && (
                <span role="status" className="self-center text-[0.8125rem] text-soft tabular-nums">
                  {t('bulk.running', { done: formatNumber(bulk.running.done), of: formatNumber(bulk.running.of) })}
                </span>
              )}
              {totals.failed > 0 && params.status !== 'error' && kb.status_counts.error > 0 && (
                <Button size="sm" onClick={() => change({ status: 'error', page: undefined, q: undefined, type: undefined })}>
                  {t('summary.showFailed')}
                </Button>
              )}
              {totals.failed > 0 && kb.editable && (
                <Button size="sm" busy={bulk.running !== null} onClick={() => void bulk.retryAllFailed()}>
                  {t('summary.retryFailed')}
                </Button>
              )}
              {totals.unsent > 0 && (
                <Button size="sm" onClick={() => uploads.cancelUnsent(kb.id)}>
                  {t('summary.cancelRest')}
                </Button>
              )}
            </>
          }
        />
      )}
      <UploadTray items={items} live={live} paused={uploads.isPaused || !reachable} kbId={kb.id} />
      {!list.data && !list.error && <Loading />}
      {list.error && !list.data && <Banner tone="bad">{errorText(list.error)}</Banner>}
      {shown && (
        <>
          <TableToolbar params={params} counts={kb.status_counts} onChange={change} />
          {bulk.count > 0 && <BulkBar bulk={bulk} total={list.data.total} />}
          <section className="overflow-hidden rounded-2xl border border-line bg-surface shadow-card" aria-label={t('kb.tabDocuments')}>
            {rows.length > 0 ? (
              <DocumentTable
                rows={rows}
                params={params}
                selected={bulk.selected}
                leaving={leavingIds}
                editable={kb.editable}
                actions={rowActions}
                onChange={change}
                onSelectPage={bulk.selectPage}
              />
            ) : (
              <div className="flex flex-col items-center gap-3 px-4 py-10 text-center text-sm text-soft">
                {t('table.nothing')}
                {(filtered || (params.page ?? 1) > 1) && (
                  <Button size="sm" onClick={() => change({ q: undefined, status: undefined, type: undefined, page: undefined })}>
                    {t('table.clearFilters')}
                  </Button>
                )}
              </div>
            )}
            <Pages page={params.page ?? 1} total={list.data.total} onPage={(page) => change({ page: page === 1 ? undefined : page })} />
          </section>
        </>
      )}
      {intake.report && (
        <ReportDialog report={intake.report} supported={supported} onClose={intake.closeReport} onStart={intake.start} />
      )}
      {details && (
        <DetailsDialog
          document={newer(details, live[details.id])}
          onClose={() => setDetails(null)}
          onRetry={kb.editable && details.status === 'error' ? () => void bulk.retry([details.id]) : undefined}
        />
      )}
      {bulk.dialog}
    </div>
  );
}
