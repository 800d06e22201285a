import type { KnowledgeBase, SearchRequest } from '@/api/types';
import { type Clause, filterFrom } from './clauses';
import { families } from './filters';

export const standardTopK = 10;
export const mostTopK = 50;

/** How one search is made, apart from its words. */
export interface SearchSettings {
  k?: number;
  min?: number;
  mode?: string;
  type?: string;
  rerank?: boolean;
  where?: Clause[];
}

/** What the address of the search page holds; names with `b` are those of the other side of a comparison. */
export interface SearchParams {
  q?: string;
  k?: number;
  min?: number;
  mode?: string;
  type?: string;
  rr?: '0' | '1';
  where?: string;
  doc?: string;
  compare?: '1';
  bq?: string;
  bk?: number;
  bmin?: number;
  bmode?: string;
  btype?: string;
  brr?: '0' | '1';
  bwhere?: string;
}

const truth = (value: '0' | '1' | undefined) => (value === undefined ? undefined : value === '1');
const digit = (value: boolean | undefined) => (value === undefined ? undefined : value ? '1' : '0');

export function clausesOf(text: string | undefined): Clause[] {
  if (!text) return [];
  try {
    const read: unknown = JSON.parse(text);
    const isClause = (item: unknown): item is Clause => Array.isArray(item) && item.length === 3 && item.every((part) => typeof part === 'string');
    return Array.isArray(read) ? read.filter(isClause) : [];
  } catch {
    return [];
  }
}

export function settingsOf(params: SearchParams, side: 'a' | 'b'): SearchSettings {
  return side === 'a'
    ? { k: params.k, min: params.min, mode: params.mode, type: params.type, rerank: truth(params.rr), where: clausesOf(params.where) }
    : { k: params.bk, min: params.bmin, mode: params.bmode, type: params.btype, rerank: truth(params.brr), where: clausesOf(params.bwhere) };
}

export function paramsOf(settings: SearchSettings, side: 'a' | 'b'): Partial<SearchParams> {
  const where = settings.where && settings.where.length > 0 ? JSON.stringify(settings.where) : undefined;
  return side === 'a'
    ? { k: settings.k, min: settings.min, mode: settings.mode, type: settings.type, rr: digit(settings.rerank), where }
    : { bk: settings.k, bmin: settings.min, bmode: settings.mode, btype: settings.type, brr: digit(settings.rerank), bwhere: where };
}

export function requestOf(query: string, settings: SearchSettings, documentId?: string): SearchRequest {
  const types = settings.type ? families[settings.type] : undefined;
  const filter = filterFrom(settings.where ?? []);
  return {
    query,
    top_k: Math.min(settings.k ?? standardTopK, mostTopK),
    ...(settings.mode ? { mode: settings.mode } : {}),
    ...(settings.min ? { score_threshold: settings.min } : {}),
    ...(settings.rerank === undefined ? {} : { rerank: settings.rerank }),
    ...(types ? { content_types: types } : {}),
    ...(documentId ? { document_ids: [documentId] } : {}),
    ...(filter ? { metadata_filter: filter } : {}),
  };
}

/** Settings for the other side that are worth seeing beside these: another mode. */
export function otherMode(kb: KnowledgeBase, settings: SearchSettings): string {
  return (settings.mode ?? kb.search_mode) === 'vector' ? 'keyword' : 'vector';
}
