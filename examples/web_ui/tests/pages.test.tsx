import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connection } from '@/api/connection';
import { counts, documentView, knowledgeBase, nothing, Problem, serve, visit } from './harness';

afterEach(() => {
  vi.unstubAllGlobals();
  connection.set({ reachable: true, reason: '' });
});

const oneKb = (changes: object = {}) => ({
  ...nothing,
  'GET /knowledge_bases/': () => ({ knowledge_bases: [knowledgeBase(changes)], total: 1 }),
  'GET /knowledge_bases/kb1': () => knowledgeBase(changes),
});

describe('the list of knowledge bases', () => {
  it('leads a new user to the first knowledge base, the local model already chosen', async () => {
    let body: unknown;
    serve({
      ...nothing,
      'POST /knowledge_bases/': async (request) => {
        body = await request.json();
        return { knowledge_base_id: 'kb1' };
      },
      'GET /knowledge_bases/kb1': () => knowledgeBase(),
      'GET /knowledge_bases/kb1/documents': () => ({ documents: [], total: 0, page: 1, page_size: 50 }),
    });
    const { user } = visit('/');
    await user.click(await screen.findByRole('button', { name: 'New knowledge base' }));
    const dialog = await screen.findByRole('dialog', { name: 'New knowledge base' });
    await waitFor(() => expect(within(dialog).getByLabelText('Name')).toHaveFocus());
    expect(await within(dialog).findByLabelText('Embedding model')).toHaveDisplayValue('Encoder');
    await user.keyboard('Handbook{Enter}');
    await screen.findByRole('heading', { level: 1, name: 'Handbook' });
    expect(body).toMatchObject({
      name: 'Handbook',
      embedding_model_config: { type: 'local_credential', credential_id: 'local', model: 'encoder', dimensions: 512 },
    });
  });

  it('puts a field error beside the field, the focus into it, and clears it on change', async () => {
    serve(nothing);
    const { user } = visit('/');
    await user.click(await screen.findByRole('button', { name: 'New knowledge base' }));
    await user.click(await screen.findByRole('button', { name: 'Create' }));
    const name = screen.getByLabelText('Name');
    await waitFor(() => expect(name).toHaveFocus());
    expect(name).toHaveAccessibleDescription('Enter a name.');
    await user.type(name, 'x');
    expect(name).toBeValid();
  });

  it('shows what is wrong when the service answers with an error, with its own words', async () => {
    serve({ ...nothing, 'GET /knowledge_bases/': () => new Problem(403, 'brand_new', 'Not in this plan.') });
    visit('/');
    expect(await screen.findByText('Not in this plan.')).toBeInTheDocument();
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
  });

  it('shows the address when the service is away, and nothing else', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    visit('/');
    expect(await screen.findByRole('heading', { level: 1, name: 'The service cannot be reached' })).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Retry' })).toBeInTheDocument();
  });

  it('asks for a key when the service does not know the caller', async () => {
    serve({ ...nothing, 'GET /knowledge_bases/': () => new Problem(401, 'unauthenticated', 'no') });
    visit('/');
    expect(await screen.findByLabelText('API key')).toHaveAttribute('type', 'password');
  });

  it('filters by name and says so when nothing matches', async () => {
    serve(oneKb());
    const { user } = visit('/');
    await screen.findByRole('link', { name: 'Handbook' });
    await user.type(screen.getByLabelText('Search by name'), 'zzz');
    expect(await screen.findByText(/No knowledge base is called/)).toBeInTheDocument();
  });
});

describe('documents', () => {
  const rows = (documents: object[]) => ({ documents, total: documents.length, page: 1, page_size: 50 });

  it('shows a failure in one line, its details on request, and retries it', async () => {
    const failed = documentView({
      status: 'error',
      chunk_count: 0,
      error: 'The cross-reference table is broken.',
      error_detail: { code: 'corrupt_file', message: 'x', stage: 'parsing', retryable: false, attempt: 2 },
    });
    const { asked } = serve({
      ...oneKb({ document_count: 1, status_counts: { ...counts, error: 1 } }),
      'GET /knowledge_bases/kb1/documents': () => rows([failed]),
      'POST /knowledge_bases/kb1/documents/d1/reindex': () => failed,
    });
    const { user } = visit('/kb/kb1');
    expect(await screen.findByText(/The file is damaged/)).toBeInTheDocument();
    expect(screen.getByTestId('summary')).toHaveTextContent('0 of 1 ready · 1 failed');
    await user.click(screen.getByRole('button', { name: 'Details' }));
    const dialog = await screen.findByRole('dialog', { name: 'leave.md' });
    expect(within(dialog).getByText('The cross-reference table is broken.')).toBeInTheDocument();
    expect(within(dialog).getByText('corrupt_file')).toBeInTheDocument();
    await user.click(within(dialog).getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(asked).toContain('POST /knowledge_bases/kb1/documents/d1/reindex'));
  });

  it('names one cause for all when the embedding server is at fault', async () => {
    const waiting = documentView({ status: 'pending', error_detail: { code: 'embedding_timeout', message: 'x', retryable: true } });
    serve({
      ...oneKb({ document_count: 1, status_counts: { ...counts, pending: 1 } }),
      'GET /knowledge_bases/kb1/documents': () => rows([waiting]),
      'GET /knowledge_bases/kb1/documents/status': () => ({ items: [waiting] }),
    });
    visit('/kb/kb1');
    expect(await screen.findByText(/It tries again by itself/)).toBeInTheDocument();
    expect(screen.getAllByText(/did not answer in time/).length).toBeGreaterThan(1);
  });

  it('deletes after asking, with the focus on Cancel, and brings nothing back', async () => {
    let there = true;
    serve({
      ...oneKb({ document_count: 1, chunk_count: 2, status_counts: { ...counts, ready: 1 } }),
      'GET /knowledge_bases/kb1/documents': () => rows([documentView()]),
      'DELETE /knowledge_bases/kb1/documents/d1': () => {
        there = false;
        return undefined;
      },
    });
    const { user } = visit('/kb/kb1');
    await user.click(await screen.findByRole('button', { name: 'Actions for leave.md' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Delete' }));
    const dialog = await screen.findByRole('dialog', { name: 'Delete “leave.md”?' });
    await waitFor(() => expect(within(dialog).getByRole('button', { name: 'Cancel' })).toHaveFocus());
    expect(dialog).toHaveTextContent('2 chunks');
    await user.click(within(dialog).getByRole('button', { name: 'Delete 1 document' }));
    // The list still answers with the row, as one read before the deletion would.
    await waitFor(() => expect(screen.queryByRole('link', { name: 'leave.md' })).not.toBeInTheDocument());
    expect(there).toBe(false);
  });

  it('keeps the row and says why when a deletion fails', async () => {
    serve({
      ...oneKb({ document_count: 1, status_counts: { ...counts, ready: 1 } }),
      'GET /knowledge_bases/kb1/documents': () => rows([documentView({ id: 'd2' })]),
      'DELETE /knowledge_bases/kb1/documents/d2': () => new Problem(403, 'permission_denied', 'no'),
    });
    const { user } = visit('/kb/kb1');
    await user.click(await screen.findByRole('checkbox', { name: 'Select leave.md' }));
    await user.click(await screen.findByRole('button', { name: 'Delete' }));
    await user.click(await screen.findByRole('button', { name: 'Delete 1 document' }));
    expect(await screen.findByText(/could not be changed: You may look at this/)).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'leave.md' })).toBeInTheDocument();
  });

  it('reports before the upload what will not be sent', async () => {
    serve({ ...oneKb(), 'GET /knowledge_bases/kb1/documents': () => rows([]) });
    const { user } = visit('/kb/kb1');
    const input = await screen.findByTestId('file-input');
    await user.upload(input, [new File(['x'], 'movie.xyz'), new File([''], 'empty.md')]);
    const dialog = await screen.findByRole('dialog', { name: 'Before the upload' });
    expect(dialog).toHaveTextContent('0 of 2 files will be sent.');
    expect(within(dialog).getByText('movie.xyz')).toBeInTheDocument();
    expect(within(dialog).getByText('1 empty file')).toBeInTheDocument();
  });
});

describe('search', () => {
  it('marks what was found and links to the place', async () => {
    const hit = {
      score: 0.5,
      document_id: 'd1',
      highlights: [[2, 7]],
      vector: { score: 0.6, rank: 2 },
      chunk: { content: { type: 'text', text: '😀 leave it' }, source: 'leave.pdf', chunk_index: 3, total_chunks: 4, metadata: { page: 12 } },
    };
    let body: unknown;
    serve({
      ...oneKb({ chunk_count: 4, status_counts: { ...counts, ready: 1 } }),
      'POST /knowledge_bases/kb1/search': async (request) => {
        body = await request.json();
        return { results: [hit], total: 1, took_ms: 3, mode: 'hybrid' };
      },
    });
    visit('/kb/kb1/search?q=leave&k=5&mode=keyword&type=pdf');
    const link = await screen.findByRole('link', { name: 'Open at page 12' });
    expect(link).toHaveAttribute('href', expect.stringContaining('/kb/kb1/doc/d1?chunk=3&page=12&q=leave'));
    expect(document.querySelector('mark')).toHaveTextContent('leave');
    expect(body).toEqual({ query: 'leave', top_k: 5, mode: 'keyword', content_types: ['application/pdf'] });
  });

  it('says why nothing was found', async () => {
    serve({
      ...oneKb({ status_counts: { ...counts, ready: 1 } }),
      'POST /knowledge_bases/kb1/search': () => ({ results: [], total: 0 }),
    });
    visit('/kb/kb1/search?q=leave&min=0.9');
    expect(await screen.findByText(/No passage reaches the minimum similarity/)).toBeInTheDocument();
  });
});

describe('credentials', () => {
  const credential = { id: 'c1', editable: true, data: { type: 'openai_credential', name: 'Mine', api_key: '********' } };
  const schemas = [
    {
      title: 'OpenAI API',
      required: ['api_key'],
      properties: { type: { const: 'openai_credential' }, name: { type: 'string' }, api_key: { type: 'string', format: 'password' } },
    },
  ];

  it('leaves a stored secret alone when the field stays empty', async () => {
    let body: unknown;
    serve({
      ...nothing,
      'GET /credential/': () => ({ credentials: [credential], total: 1 }),
      'GET /credential/schemas': () => ({ schemas }),
      'PATCH /credential/c1': async (request) => {
        body = await request.json();
        return credential;
      },
    });
    const { user } = visit('/credentials');
    await user.click(await screen.findByRole('button', { name: 'Edit Mine' }));
    const dialog = await screen.findByRole('dialog', { name: 'Edit “Mine”' });
    expect(within(dialog).getByLabelText(/API key/)).toHaveValue('');
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(body).toEqual({ data: { type: 'openai_credential', name: 'Mine' } }));
  });

  it('tries a credential and says in plain words why it does not work', async () => {
    serve({
      ...nothing,
      'GET /credential/': () => ({ credentials: [credential], total: 1 }),
      'GET /credential/schemas': () => ({ schemas }),
      'POST /credential/c1/test': () => ({ ok: false, code: 'embedding_auth', detail: 'no' }),
    });
    const { user } = visit('/credentials');
    await user.click(await screen.findByRole('button', { name: 'Test Mine' }));
    expect(await screen.findByText(/The embedding provider refused the key/)).toBeInTheDocument();
  });

  it('does not delete what a knowledge base uses, and names it', async () => {
    serve({
      ...oneKb({ embedding_model_config: { ...knowledgeBase().embedding_model_config, credential_id: 'c1' } }),
      'GET /credential/': () => ({ credentials: [credential], total: 1 }),
      'GET /credential/schemas': () => ({ schemas }),
    });
    const { user } = visit('/credentials');
    await screen.findByText('Handbook');
    await user.click(screen.getByRole('button', { name: 'Delete Mine' }));
    const dialog = await screen.findByRole('dialog', { name: '“Mine” is in use' });
    expect(within(dialog).getByText('Handbook')).toBeInTheDocument();
    expect(within(dialog).queryByRole('button', { name: 'Delete credential' })).not.toBeInTheDocument();
  });
});
