// One function per call of the REST API that the pages use.
import { call, client } from './client';
import { serviceUrl } from './connection';
import { mayWrite } from './identity';
import type * as T from './types';

export const largestPage = 128;
const kb = (knowledge_base_id: string) => ({ path: { knowledge_base_id } });
const doc = (knowledge_base_id: string, document_id: string) => ({ path: { knowledge_base_id, document_id } });

export interface DocumentQuery {
  page: number;
  page_size: number;
  keywords?: string;
  status?: T.DocumentStatus;
  content_type?: string;
  orderby: string;
  desc: boolean;
}

/** Every page of a listing, one after the other, at most `most` items. */
async function allPages<I>(read: (page: number) => Promise<{ items: I[]; total: number }>, most: number): Promise<I[]> {
  const items: I[] = [];
  for (let page = 1; items.length < most; page += 1) {
    const got = await read(page);
    items.push(...got.items);
    if (got.items.length === 0 || items.length >= got.total) break;
  }
  return items;
}

// A key that only reads changes nothing, whatever its user might.
const asMine = (item: T.KnowledgeBase): T.KnowledgeBase => (mayWrite() ? item : { ...item, editable: false });

export const knowledgeBases = {
  list: () =>
    allPages(async (page) => {
      const query = { page, page_size: largestPage, orderby: 'update_time', desc: true };
      const got = await call<{ knowledge_bases: T.KnowledgeBase[]; total: number }>(
        client.GET('/knowledge_bases/', { params: { query } }),
      );
      return { items: got.knowledge_bases.map(asMine), total: got.total };
    }, 2000),
  get: async (id: string) =>
    asMine(await call<T.KnowledgeBase>(client.GET('/knowledge_bases/{knowledge_base_id}', { params: kb(id) }))),
  create: (body: {
    name: string;
    description: string;
    embedding_model_config: T.EmbeddingModelConfig;
    chunker_config: T.ChunkerConfig | null;
  }) => call<{ knowledge_base_id: string }>(client.POST('/knowledge_bases/', { body: body as never })),
  update: (id: string, body: { name?: string; description?: string; search_mode?: string }) =>
    call<T.KnowledgeBase>(
      client.PATCH('/knowledge_bases/{knowledge_base_id}', { params: kb(id), body: body as never }),
    ),
  remove: (id: string) =>
    call<void>(client.DELETE('/knowledge_bases/{knowledge_base_id}', { params: kb(id), parseAs: 'stream' })),
  search: (id: string, body: T.SearchRequest, signal?: AbortSignal) =>
    call<T.SearchAnswer>(
      client.POST('/knowledge_bases/{knowledge_base_id}/search', { params: kb(id), body: body as never, signal }),
    ),
};

export const migrations = {
  get: (id: string) =>
    call<T.MigrationState>(client.GET('/knowledge_bases/{knowledge_base_id}/migration', { params: kb(id) })),
  /** Null embeds everything again with the present model. */
  begin: (id: string, config: T.EmbeddingModelConfig | null) =>
    call<T.MigrationState>(
      client.POST('/knowledge_bases/{knowledge_base_id}/migration', {
        params: kb(id),
        body: { embedding_model_config: config } as never,
      }),
    ),
  cancel: (id: string) =>
    call<void>(client.DELETE('/knowledge_bases/{knowledge_base_id}/migration', { params: kb(id), parseAs: 'stream' })),
};

const shareOf = (knowledge_base_id: string, user_id: string) => ({ path: { knowledge_base_id, user_id } });

export const shares = {
  list: async (id: string) =>
    (await call<{ shares: T.Share[] }>(client.GET('/knowledge_bases/{knowledge_base_id}/shares', { params: kb(id) }))).shares,
  put: (id: string, user: string, permission: T.Share['permission']) =>
    call<T.Share>(
      client.PUT('/knowledge_bases/{knowledge_base_id}/shares/{user_id}', { params: shareOf(id, user), body: { permission } }),
    ),
  remove: (id: string, user: string) =>
    call<void>(
      client.DELETE('/knowledge_bases/{knowledge_base_id}/shares/{user_id}', { params: shareOf(id, user), parseAs: 'stream' }),
    ),
};

export const limits = () => call<T.Limits>(client.GET('/limits', {}));

export const capabilities = {
  embeddingModels: () => call<T.EmbeddingModels>(client.GET('/knowledge_bases/embedding_models', {})),
  chunkers: async () => (await call<{ chunkers: T.Chunker[] }>(client.GET('/knowledge_bases/chunkers', {}))).chunkers,
  supportedTypes: () => call<T.SupportedTypes>(client.GET('/knowledge_bases/supported_content_types', {})),
};

export const documents = {
  list: (id: string, query: DocumentQuery) =>
    call<{ documents: T.KnowledgeDocument[] } & T.Page>(
      client.GET('/knowledge_bases/{knowledge_base_id}/documents', {
        params: { ...kb(id), query },
      }),
    ),
  all: (id: string, query: Partial<DocumentQuery>, most: number) =>
    allPages(async (page) => {
      const asked = { orderby: 'create_time', desc: true, ...query, page, page_size: largestPage };
      const got = await documents.list(id, asked);
      return { items: got.documents, total: got.total };
    }, most),
  get: async (id: string, documentId: string) => (await documents.status(id, [documentId]))[0] ?? null,
  status: async (id: string, ids: string[]) =>
    (
      await call<{ items: T.KnowledgeDocument[] }>(
        client.GET('/knowledge_bases/{knowledge_base_id}/documents/status', {
          params: { ...kb(id), query: { ids: ids.join(',') } },
        }),
      )
    ).items,
  remove: (id: string, documentId: string) =>
    call<void>(
      client.DELETE('/knowledge_bases/{knowledge_base_id}/documents/{document_id}', {
        params: doc(id, documentId),
        parseAs: 'stream',
      }),
    ),
  reindex: (id: string, documentId: string) =>
    call<unknown>(
      client.POST('/knowledge_bases/{knowledge_base_id}/documents/{document_id}/reindex', { params: doc(id, documentId) }),
    ),
  reindexFailed: (id: string) =>
    call<{ queued: number }>(client.POST('/knowledge_bases/{knowledge_base_id}/documents/reindex', { params: kb(id) })),
  chunks: (id: string, documentId: string, page: number, pageSize: number) =>
    call<{ chunks: T.Chunk[] } & T.Page>(
      client.GET('/knowledge_bases/{knowledge_base_id}/documents/{document_id}/chunks', {
        params: { ...doc(id, documentId), query: { page, page_size: pageSize } },
      }),
    ),
  downloadToken: (id: string, documentId: string) =>
    call<{ token: string; expires_at: number }>(
      client.POST('/knowledge_bases/{knowledge_base_id}/documents/{document_id}/download_token', {
        params: doc(id, documentId),
      }),
    ),
  rawUrl: (id: string, documentId: string) => new URL(`knowledge_bases/${id}/documents/${documentId}`, serviceUrl),
  uploadUrl: (id: string) => new URL(`knowledge_bases/${id}/documents`, serviceUrl),
};

export const apiKeys = {
  list: async () => (await call<{ api_keys: T.ApiKey[] }>(client.GET('/api_keys/', {}))).api_keys,
  create: (body: T.NewApiKey) => call<T.ApiKey & { key: string }>(client.POST('/api_keys/', { body: body as never })),
  rotate: (id: string) =>
    call<T.ApiKey & { key: string }>(client.POST('/api_keys/{api_key_id}/rotate', { params: { path: { api_key_id: id } } })),
  revoke: (id: string) =>
    call<void>(client.DELETE('/api_keys/{api_key_id}', { params: { path: { api_key_id: id } }, parseAs: 'stream' })),
};

export const credentials = {
  list: async () =>
    (await call<{ credentials: T.Credential[] }>(client.GET('/credential/', {}))).credentials,
  schemas: async () => (await call<{ schemas: T.ObjectSchema[] }>(client.GET('/credential/schemas', {}))).schemas,
  create: (data: Record<string, unknown>) =>
    call<{ credential_id: string }>(client.POST('/credential/', { body: { data } })),
  update: (id: string, data: Record<string, unknown>) =>
    call<T.Credential>(
      client.PATCH('/credential/{credential_id}', { params: { path: { credential_id: id } }, body: { data } }),
    ),
  test: (id: string) =>
    call<{ ok: boolean; code: string | null; detail: string | null }>(
      client.POST('/credential/{credential_id}/test', { params: { path: { credential_id: id } } }),
    ),
  remove: (id: string) =>
    call<void>(
      client.DELETE('/credential/{credential_id}', { params: { path: { credential_id: id } }, parseAs: 'stream' }),
    ),
};
