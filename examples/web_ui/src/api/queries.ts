import { QueryClient, queryOptions } from '@tanstack/react-query';
import * as calls from './calls';
import { connection } from './connection';
import { toApiError } from './errors';
import { waysIn } from './who';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      gcTime: 300_000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
      // A refused call is final; one that never arrived is repeated when the service is back (below).
      retry: (count, cause) => count < 2 && [429, 500, 503].includes(toApiError(cause).status),
    },
    mutations: { networkMode: 'always' },
  },
});

let wasReachable = true;
connection.subscribe(() => {
  const { reachable } = connection.get();
  if (reachable && !wasReachable) void queryClient.invalidateQueries();
  wasReachable = reachable;
});

export const keys = {
  kbs: ['kbs'] as const,
  kb: (id: string) => ['kb', id] as const,
  documents: (id: string) => ['documents', id] as const,
  document: (id: string, documentId: string) => ['document', id, documentId] as const,
  chunks: (id: string, documentId: string) => ['chunks', id, documentId] as const,
  credentials: ['credentials'] as const,
  apiKeys: ['api_keys'] as const,
  models: ['models'] as const,
};

export const identityQuery = queryOptions({
  queryKey: ['identity'],
  queryFn: waysIn,
  staleTime: 300_000,
});

export const kbsQuery = queryOptions({ queryKey: keys.kbs, queryFn: calls.knowledgeBases.list });

export const kbQuery = (id: string) =>
  queryOptions({ queryKey: keys.kb(id), queryFn: () => calls.knowledgeBases.get(id) });

export const modelsQuery = queryOptions({ queryKey: keys.models, queryFn: calls.capabilities.embeddingModels });

export const chunkersQuery = queryOptions({
  queryKey: ['chunkers'],
  queryFn: calls.capabilities.chunkers,
  staleTime: 600_000,
});

export const supportedQuery = queryOptions({
  queryKey: ['supported'],
  queryFn: calls.capabilities.supportedTypes,
  staleTime: 60_000,
});

export const credentialsQuery = queryOptions({ queryKey: keys.credentials, queryFn: calls.credentials.list });

export const apiKeysQuery = queryOptions({ queryKey: keys.apiKeys, queryFn: calls.apiKeys.list });

export const sharesQuery = (id: string) => queryOptions({ queryKey: ['shares', id], queryFn: () => calls.shares.list(id) });

export const migrationQuery = (id: string) =>
  queryOptions({
    queryKey: ['migration', id],
    queryFn: () => calls.migrations.get(id),
    refetchInterval: ({ state: { data } }) => (data?.migration && data.migration.progress.stage !== 'stopped' ? 1500 : false),
  });

export const limitsQuery = queryOptions({ queryKey: ['limits'], queryFn: calls.limits, refetchInterval: 10_000 });

export const schemasQuery = queryOptions({
  queryKey: ['schemas'],
  queryFn: calls.credentials.schemas,
  staleTime: 600_000,
});
