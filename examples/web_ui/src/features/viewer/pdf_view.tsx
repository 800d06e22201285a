import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  getDocument,
  GlobalWorkerOptions,
  type PDFDocumentProxy,
  type PDFPageProxy,
  type RenderTask,
  TextLayer,
} from 'pdfjs-dist/build/pdf.min.mjs';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { serviceUrl } from '@/api/connection';
import { identityHeaders } from '@/api/identity';
import { Banner } from '@/ui/banner';
import { Loading } from '@/ui/loading';
import { locate } from './locate';

GlobalWorkerOptions.workerSrc = new URL(workerUrl, document.baseURI).href;

export interface PdfTarget {
  pages: number[];
  passage: string;
  key: string;
}

interface Size {
  width: number;
  height: number;
}

/** The whole file as a column of pages; only those near the view are drawn. */
export default function PdfView({ url, target }: { url: string; target: PdfTarget | null }) {
  const { t } = useTranslation();
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null);
  const [first, setFirst] = useState<Size | null>(null);
  const [failed, setFailed] = useState(false);
  const [width, setWidth] = useState(0);
  const column = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const task = getDocument({
      url,
      httpHeaders: identityHeaders(),
      cMapUrl: new URL('cmaps/', serviceUrl).href,
      cMapPacked: true,
      enableXfa: false,
      useWasm: false,
      verbosity: 0,
    });
    let over = false;
    task.promise
      .then(async (opened: PDFDocumentProxy) => {
        const { width: w, height: h } = (await opened.getPage(1)).getViewport({ scale: 1 });
        if (over) return;
        setFirst({ width: w, height: h });
        setPdf(opened);
      })
      .catch(() => !over && setFailed(true));
    return () => {
      over = true;
      void task.destroy();
    };
  }, [url]);

  useEffect(() => {
    const element = column.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const key = target?.key;
  const page = target?.pages[0];
  useEffect(() => {
    if (pdf && width > 0 && page) scrollInside(column.current?.querySelector(`[data-page="${page}"]`), 'start');
    // A new target scrolls; a new width must not.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [pdf, key, page, width > 0]);

  return (
    <div ref={column} className="flex min-h-40 flex-col items-stretch gap-3">
      {failed && <Banner tone="warn">{t('viewer.pdfFailed')}</Banner>}
      {!pdf && !failed && <Loading />}
      {pdf &&
        first &&
        width > 0 &&
        Array.from({ length: pdf.numPages }, (_, index) => (
          <Page
            key={index}
            pdf={pdf}
            number={index + 1}
            width={width}
            estimate={first}
            target={target?.pages.includes(index + 1) ? target : null}
            leads={page === index + 1}
          />
        ))}
    </div>
  );
}

/** Scroll the pane that holds the element, not the whole window. */
function scrollInside(element: Element | null | undefined, block: 'start' | 'center'): void {
  const pane = element?.closest<HTMLElement>('[data-pane]');
  if (!element || !pane) return;
  const offset = element.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  pane.scrollTop += offset - (block === 'center' ? pane.clientHeight / 3 : 8);
}

interface PageProps {
  pdf: PDFDocumentProxy;
  number: number;
  width: number;
  estimate: Size;
  target: PdfTarget | null;
  leads: boolean;
}

interface Layer {
  divs: HTMLElement[];
  texts: string[];
}

function Page({ pdf, number, width, estimate, target, leads }: PageProps) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  const [size, setSize] = useState(estimate);
  const [layer, setLayer] = useState<Layer | null>(null);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting ?? false), {
      root: element.closest('[data-pane]'),
      rootMargin: '600px',
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (!near) return;
    let over = false;
    let painting: RenderTask | null = null;
    const draw = async () => {
      const page: PDFPageProxy = await pdf.getPage(number);
      const natural = page.getViewport({ scale: 1 });
      const scale = width / natural.width;
      const viewport = page.getViewport({ scale });
      const surface = canvas.current;
      const words = text.current;
      if (over || !surface || !words) return;
      setSize({ width: natural.width, height: natural.height });
      const density = Math.min(devicePixelRatio || 1, 2);
      surface.width = Math.floor(viewport.width * density);
      surface.height = Math.floor(viewport.height * density);
      painting = page.render({ canvas: surface, viewport, transform: density === 1 ? undefined : [density, 0, 0, density, 0, 0] });
      words.replaceChildren();
      words.style.setProperty('--total-scale-factor', String(scale));
      const made = new TextLayer({ textContentSource: await page.getTextContent(), container: words, viewport });
      await made.render();
      if (!over) setLayer({ divs: made.textDivs, texts: made.textContentItemsStr });
      await painting.promise;
    };
    draw().catch(() => undefined);
    return () => {
      over = true;
      painting?.cancel();
    };
  }, [pdf, number, width, near]);

  useEffect(() => {
    if (!layer) return;
    for (const div of layer.divs) div.classList.remove('marked');
    if (!target) return;
    const marked = divsOf(layer, target.passage);
    for (const div of marked) div.classList.add('marked');
    if (leads) scrollInside(marked[0], 'center');
  }, [layer, target, leads]);

  return (
    <div
      ref={box}
      data-page={number}
      className="relative shrink-0 overflow-hidden rounded-lg border border-line bg-white"
      style={{ height: Math.round((width * size.height) / size.width) }}
      role="group"
      aria-label={t('viewer.pageOf', { page: number, total: pdf.numPages })}
    >
      {near && (
        <>
          <canvas ref={canvas} className="block h-full w-full" aria-hidden="true" />
          <div ref={text} className="pdf-text" />
        </>
      )}
    </div>
  );
}

/** The pieces of a page's text that a passage covers. */
function divsOf({ divs, texts }: Layer, passage: string): HTMLElement[] {
  const starts: number[] = [];
  let whole = '';
  for (const piece of texts) {
    starts.push(whole.length);
    whole += `${piece} `;
  }
  const range = locate(whole, passage);
  if (!range) return [];
  return divs.filter((_, index) => {
    const start = starts[index] ?? 0;
    const end = start + (texts[index]?.length ?? 0);
    return end > range[0] && start < range[1] && (texts[index] ?? '').trim() !== '';
  });
}
