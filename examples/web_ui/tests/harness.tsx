import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRouter, RouterProvider } from '@tanstack/react-router';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { vi } from 'vitest';
import { queryClient } from '@/api/queries';
import { routeTree, searchCodec } from '@/router';

type Handler = (request: Request) => unknown;

export const counts = { pending: 0, parsing: 0, chunking: 0, indexing: 0, ready: 0, error: 0 };

export function knowledgeBase(changes: object = {}) {
  return {
    id: 'kb1',
    name: 'Handbook',
    description: '',
    embedding_model_config: { type: 'local_credential', credential_id: 'local', model: 'encoder', dimensions: 512, parameters: {} },
    chunker_config: { type: 'approx_token', parameters: { chunk_size: 512 } },
    created_at: '2026-01-01T00:00:00+00:00',
    updated_at: '2026-01-01T00:00:00+00:00',
    editable: true,
    document_count: 0,
    chunk_count: 0,
    credential_name: null,
    status_counts: counts,
    search_mode: 'hybrid',
    ...changes,
  };
}

export function documentView(changes: object = {}) {
  return {
    id: 'd1',
    filename: 'leave.md',
    size: 100,
    content_type: 'text/markdown',
    status: 'ready',
    error: null,
    error_detail: null,
    progress: { stage: 'waiting', done: 0, total: 0, unit: '' },
    warnings: [],
    chunk_count: 2,
    created_at: '2026-01-01T00:00:00+00:00',
    updated_at: '2026-01-01T00:00:00+00:00',
    ...changes,
  };
}

export class Problem {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: unknown,
  ) {}
}

/** Answers by "METHOD /path"; a path without an answer fails the test by its 404. */
export function serve(handlers: Record<string, Handler>): { asked: string[] } {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (input: Request | URL | string, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(input, init);
    const name = `${request.method} ${new URL(request.url).pathname}`;
    asked.push(name);
    const handler = handlers[name];
    const body = handler ? await handler(request) : new Problem(404, 'not_found', 'unknown');
    if (body instanceof Problem)
      return new Response(JSON.stringify({ detail: body.detail, code: body.code }), { status: body.status });
    return body === undefined ? new Response(null, { status: 204 }) : new Response(JSON.stringify(body), { status: 200 });
  });
  return { asked };
}

export const nothing = {
  'GET /knowledge_bases/': () => ({ knowledge_bases: [], total: 0 }),
  'GET /credential/': () => ({ credentials: [], total: 0 }),
  'GET /credential/schemas': () => ({ schemas: [] }),
  'GET /knowledge_bases/chunkers': () => ({ chunkers: [] }),
  'GET /knowledge_bases/supported_content_types': () => ({ media_types: [], extensions: ['.md'], limits: { upload_bytes: 1000 } }),
  'GET /knowledge_bases/embedding_models': () => ({
    providers: [
      {
        credential: { id: 'local', editable: false, data: { type: 'local_credential', name: 'local' } },
        models: [{ name: 'encoder', label: 'Encoder', dimensions: 512, supported_dimensions: null }],
      },
    ],
    policy: { kind: 'any', dimension: null },
  }),
};

/** The whole app at one address. */
export function visit(path: string) {
  queryClient.clear();
  const router = createRouter({ routeTree, history: createMemoryHistory({ initialEntries: [path] }), ...searchCodec });
  const view = render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return { ...view, router, user: userEvent.setup() };
}
