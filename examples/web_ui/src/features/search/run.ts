import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { knowledgeBases } from '@/api/calls';
import type { SearchAnswer, SearchHit, SearchRequest } from '@/api/types';

/** The answer to one search, kept while the next one runs. */
export function useSearchRun(kbId: string, body: SearchRequest | null) {
  return useQuery<SearchAnswer>({
    queryKey: ['search', kbId, body],
    queryFn: async ({ signal }) => {
      const started = performance.now();
      const answer = await knowledgeBases.search(kbId, body ?? { query: '', top_k: 1 }, signal);
      return { ...answer, took_ms: answer.took_ms ?? performance.now() - started };
    },
    enabled: body !== null,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
    placeholderData: body === null ? undefined : keepPreviousData,
    retry: false,
  });
}

export const hitKey = (hit: SearchHit) => `${hit.document_id}/${hit.chunk.chunk_index}`;

/** Rank of each hit, from 1. */
export function ranksOf(answer: SearchAnswer | undefined): ReadonlyMap<string, number> {
  return new Map(answer?.results.map((hit, index) => [hitKey(hit), index + 1]));
}

const always = ['folder', 'filename', 'media_type', 'language', 'page'];

/** Fields that a filter can name: those of the hits on show, and those every document has. */
export function fieldsOf(...answers: (SearchAnswer | undefined)[]): string[] {
  const found = new Set(always);
  for (const answer of answers)
    for (const { chunk } of answer?.results ?? [])
      for (const [name, value] of Object.entries(chunk.metadata)) if (value === null || typeof value !== 'object') found.add(name);
  return [...found].sort((a, b) => a.localeCompare(b));
}
