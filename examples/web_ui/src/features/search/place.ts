import type { TFunction } from 'i18next';
import type { Chunk } from '@/api/types';
import { formatNumber } from '@/ui/format';

const numberIn = (metadata: Record<string, unknown>, key: string): number | null => {
  const value = metadata[key];
  return typeof value === 'number' && value > 0 ? value : null;
};

/** The pages a chunk stands on; most stand on one. */
export function pagesOf(chunk: Chunk): number[] {
  const { pages, page } = chunk.metadata;
  if (Array.isArray(pages)) return pages.filter((item): item is number => typeof item === 'number');
  return typeof page === 'number' ? [page] : [];
}

/** "page 12", "slide 3", "sheet Budget" or nothing. */
export function placeOf(chunk: Chunk, t: TFunction): string {
  const { metadata } = chunk;
  const page = pagesOf(chunk)[0];
  if (page !== undefined) return t('place.page', { shown: formatNumber(page) });
  const slide = numberIn(metadata, 'slide');
  if (slide !== null) return t('place.slide', { shown: formatNumber(slide) });
  if (typeof metadata.sheet === 'string' && metadata.sheet) return t('place.sheet', { name: metadata.sheet });
  const heading = metadata.heading ?? metadata.section;
  if (Array.isArray(heading)) return heading.join(' › ');
  return typeof heading === 'string' ? heading : '';
}

export function textOf(chunk: Chunk): string {
  return chunk.content.type === 'text' ? chunk.content.text : '';
}
