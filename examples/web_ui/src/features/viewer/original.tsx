import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { documents } from '@/api/calls';
import { identityHeaders } from '@/api/identity';
import type { Chunk, KnowledgeDocument } from '@/api/types';
import { download } from '@/features/documents/actions';
import { type Range, readable, toUtf16 } from '@/features/search/marks';
import { pagesOf, placeOf, textOf } from '@/features/search/place';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Loading } from '@/ui/loading';
import { Marked } from '@/ui/marked';
import { viewKind } from './kind';
import { locate } from './locate';

const PdfView = lazy(() => import('./pdf_view'));
const tokenFreshMs = 8 * 60_000;

interface OriginalProps {
  kbId: string;
  document: KnowledgeDocument;
  chunk: Chunk | null;
  page: number | undefined;
  chunks: Chunk[];
}

export function Original({ kbId, document, chunk, page, chunks }: OriginalProps) {
  const kind = viewKind(document);
  if (kind === 'pdf') return <PdfOriginal kbId={kbId} document={document} chunk={chunk} page={page} chunks={chunks} />;
  if (kind === 'image') return <ImageOriginal kbId={kbId} document={document} />;
  if (kind === 'text') return <TextOriginal kbId={kbId} document={document} chunk={chunk} chunks={chunks} page={page} />;
  return <Extracted kbId={kbId} document={document} chunk={chunk} chunks={chunks} page={page} />;
}

function PdfOriginal({ kbId, document, chunk, page }: OriginalProps) {
  const target = useMemo(() => {
    const pages = chunk ? pagesOf(chunk) : [];
    const wanted = pages.length > 0 ? pages : page ? [page] : [];
    if (wanted.length === 0) return null;
    return { pages: wanted, passage: chunk ? textOf(chunk) : '', key: `${chunk?.chunk_index ?? ''}/${wanted[0]}` };
  }, [chunk, page]);
  return (
    <Suspense fallback={<Loading />}>
      <PdfView url={documents.rawUrl(kbId, document.id).href} target={target} />
    </Suspense>
  );
}

function ImageOriginal({ kbId, document }: { kbId: string; document: KnowledgeDocument }) {
  const { t } = useTranslation();
  const { data } = useQuery({
    queryKey: ['token', kbId, document.id],
    queryFn: () => documents.downloadToken(kbId, document.id),
    staleTime: tokenFreshMs,
  });
  if (!data) return <Loading />;
  const url = documents.rawUrl(kbId, document.id);
  url.search = new URLSearchParams({ token: data.token }).toString();
  return <img src={url.href} alt={t('viewer.imageOf', { name: document.filename })} className="mx-auto max-w-full rounded-lg" />;
}

async function readText(kbId: string, documentId: string): Promise<string | null> {
  const answer = await fetch(documents.rawUrl(kbId, documentId), { headers: identityHeaders() });
  if (!answer.ok) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await answer.arrayBuffer()).replaceAll('\r\n', '\n');
  } catch {
    // Another encoding: what the service read from it is shown instead.
    return null;
  }
}

/** The marked range: as the service says if that fits, otherwise found by the words. */
function rangeOf(text: string, chunk: Chunk): Range | null {
  const { char_start: start, char_end: end } = chunk.metadata;
  const passage = textOf(chunk);
  if (typeof start === 'number' && typeof end === 'number') {
    const [range] = toUtf16(text, [[start, end]]);
    const squeezed = (value: string) => value.replace(/\s+/g, '').slice(0, 40);
    if (range && squeezed(text.slice(range[0], range[1])) === squeezed(passage)) return range;
  }
  return locate(text, passage);
}

function TextOriginal(props: OriginalProps) {
  const { kbId, document, chunk } = props;
  const { data, isPending } = useQuery({
    queryKey: ['text', kbId, document.id, document.content_sha256],
    queryFn: () => readText(kbId, document.id),
    staleTime: Infinity,
  });
  const range = useMemo(() => (data && chunk ? rangeOf(data, chunk) : null), [data, chunk]);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    scrollToMark(box.current);
  }, [range]);
  if (isPending) return <Loading />;
  if (data === null || data === undefined) return <Extracted {...props} />;
  return (
    <pre ref={box} dir="auto" className="font-sans text-sm leading-relaxed whitespace-pre-wrap">
      <Marked text={data} marks={range ? [range] : []} />
    </pre>
  );
}

function scrollToMark(inside: HTMLElement | null): void {
  const mark = inside?.querySelector('mark, [data-current]');
  const pane = inside?.closest<HTMLElement>('[data-pane]');
  if (!mark || !pane) return;
  pane.scrollTop += mark.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
}

/** What was read from a file the browser cannot show, by slide, sheet or section; the original is a click away. */
function Extracted({ kbId, document, chunk, chunks }: OriginalProps) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const groups = useMemo(() => {
    const found: { place: string; chunks: Chunk[] }[] = [];
    for (const item of chunks) {
      const place = placeOf(item, t);
      const last = found.at(-1);
      if (last && last.place === place) last.chunks.push(item);
      else found.push({ place, chunks: [item] });
    }
    return found;
  }, [chunks, t]);
  useEffect(() => {
    scrollToMark(box.current);
  }, [chunk, chunks]);
  return (
    <div ref={box} className="flex flex-col gap-4">
      <Banner
        tone="info"
        action={
          <Button size="sm" icon={<Download size={15} aria-hidden="true" />} onClick={() => void download(kbId, document.id)}>
            {t('table.download')}
          </Button>
        }
      >
        {t('viewer.extracted')}
      </Banner>
      {groups.map((group, index) => (
        <section key={index} className="rounded-xl border border-line p-4" aria-label={group.place || t('viewer.text')}>
          {group.place && <h3 className="mb-2 text-xs font-semibold text-soft">{group.place}</h3>}
          {group.chunks.map((item) => {
            const current = item.chunk_index === chunk?.chunk_index;
            const { text } = readable(textOf(item));
            return (
              <p
                key={item.chunk_index}
                dir="auto"
                data-current={current || undefined}
                className="mb-2 text-sm leading-relaxed whitespace-pre-line last:mb-0"
              >
                <Marked text={text} marks={current ? [[0, text.length]] : []} />
              </p>
            );
          })}
        </section>
      ))}
    </div>
  );
}
