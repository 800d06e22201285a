// A small stand-in for the service, for work on the pages: everything in memory, same answers on every run.
// Usage: node tests/mock_server.mjs [port]; files and knowledge bases come from the requests alone.
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const stages = ['pending', 'parsing', 'chunking', 'indexing', 'ready'];
const stepMs = 700;
const now = () => new Date().toISOString().replace('Z', '000+00:00');
const newId = () => randomUUID().replaceAll('-', '');
const problem = (status, code, detail) => ({ status, body: { detail, code } });

const local = {
  id: 'local',
  data: { id: 'local', name: 'On this machine', type: 'local_credential' },
  editable: false,
  user_id: 'default',
  created_at: now(),
  updated_at: now(),
};
const card = (name, label, dimensions, supported = null) => ({
  type: 'embedding_model',
  name,
  label,
  status: 'active',
  dimensions,
  supported_dimensions: supported,
  context_size: 512,
  parameter_schema: { type: 'object', properties: {} },
  parameter_overrides: {},
});
const schema = (type, title, fields, required) => ({
  title,
  type: 'object',
  required,
  properties: {
    id: { type: 'string', title: 'Id' },
    name: { type: 'string', title: 'Name', default: '' },
    type: { const: type, default: type, type: 'string' },
    ...fields,
  },
});
const secret = { type: 'string', title: 'API key', format: 'password', writeOnly: true };
const schemas = [
  schema('dashscope_credential', 'DashScope API', { api_key: secret, base_url: { type: 'string', title: 'Base URL', default: 'https://dashscope.aliyuncs.com/compatible-mode/v1' } }, ['api_key']),
  schema('openai_credential', 'OpenAI API', { api_key: secret, base_url: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null, title: 'Base URL' } }, ['api_key']),
];

export function createMock() {
  const users = new Map();
  const of = (user) => {
    if (!users.has(user)) users.set(user, { kbs: new Map(), credentials: new Map() });
    return users.get(user);
  };

  function state(doc) {
    if (doc.fixed) return doc.fixed;
    const step = Math.min(stages.length - 1, Math.floor((Date.now() - doc.started) / stepMs));
    return /broken/i.test(doc.filename) && step >= 2 ? 'error' : stages[step];
  }

  function view(doc) {
    const status = state(doc);
    const total = Math.max(1, doc.chunks.length);
    const failed = status === 'error';
    const moving = ['parsing', 'chunking', 'indexing'].includes(status);
    return {
      id: doc.id,
      filename: doc.filename,
      size: doc.body.length,
      content_type: doc.type,
      status,
      error: failed ? 'The file is damaged or not of its type.' : null,
      error_detail: failed ? { code: 'corrupt_file', stage: 'parsing', retryable: false, attempt: 1 } : null,
      progress: moving ? { stage: status, done: Math.ceil(total / 2), total, unit: 'chunks' } : null,
      warnings: status === 'ready' && /partly/i.test(doc.filename) ? ['No text was found on pages 2 and 3.'] : [],
      content_sha256: doc.hash,
      duplicate_of: doc.duplicateOf ?? null,
      searchable: status === 'ready',
      chunk_count: status === 'ready' ? doc.chunks.length : 0,
      created_at: doc.created,
      updated_at: now(),
    };
  }

  function kbView(kb) {
    const views = [...kb.documents.values()].map(view);
    const counts = { pending: 0, parsing: 0, chunking: 0, indexing: 0, ready: 0, error: 0 };
    for (const item of views) counts[item.status] += 1;
    const { documents: _, ...plain } = kb;
    return {
      ...plain,
      editable: true,
      search_mode: 'hybrid',
      document_count: views.length,
      chunk_count: views.reduce((sum, item) => sum + item.chunk_count, 0),
      credential_name: kb.embedding_model_config.credential_id === 'local' ? 'On this machine' : 'Key',
      status_counts: counts,
    };
  }

  function cut(text, filename, type) {
    const parts = text.split(/\n{2,}/).filter((part) => part.trim() !== '');
    let at = 0;
    return parts.map((part, index) => {
      const start = text.indexOf(part, at);
      at = start + part.length;
      return {
        content: { type: 'text', text: part, id: newId() },
        source: filename,
        chunk_index: index,
        total_chunks: parts.length,
        metadata: { filename, media_type: type, char_start: [...text.slice(0, start)].length, char_end: [...text.slice(0, at)].length },
      };
    });
  }

  function multipart(request, body) {
    const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(request.headers['content-type'] ?? '');
    const mark = Buffer.from(`--${boundary?.[1] ?? boundary?.[2]}`);
    const fields = {};
    for (let start = body.indexOf(mark); start >= 0; ) {
      const next = body.indexOf(mark, start + mark.length);
      if (next < 0) break;
      const part = body.subarray(start + mark.length + 2, next - 2);
      const split = part.indexOf('\r\n\r\n');
      const head = part.subarray(0, split).toString();
      const name = /name="([^"]*)"/.exec(head)?.[1];
      const filename = /filename="((?:[^"\\]|\\.)*)"/.exec(head)?.[1];
      const content = part.subarray(split + 4);
      fields[name] = filename === undefined ? content.toString() : { filename: filename.replaceAll('%22', '"'), type: /content-type: *([^\r\n]+)/i.exec(head)?.[1], content };
      start = next;
    }
    return fields;
  }

  function upload(kb, request, body) {
    const { file, on_duplicate: mode = 'keep' } = multipart(request, body);
    const hash = createHash('sha256').update(file.content).digest('hex');
    const same = [...kb.documents.values()].find((item) => item.hash === hash);
    if (same && mode === 'skip') return { status: 201, body: { document_id: same.id, filename: same.filename, status: state(same), duplicate_of: same.id } };
    if (same && mode === 'replace') kb.documents.delete(same.id);
    const text = /^(text\/|application\/json)/.test(file.type ?? '') || /\.(md|txt)$/.test(file.filename) ? file.content.toString() : `${file.filename}\n\nText that was read from it.`;
    const doc = { id: newId(), filename: file.filename, type: file.type, body: file.content, hash, started: Date.now(), created: now(), duplicateOf: same?.id };
    doc.chunks = cut(text, file.filename, file.type);
    kb.documents.set(doc.id, doc);
    return { status: 201, body: { document_id: doc.id, filename: doc.filename, status: 'pending' } };
  }

  function search(kb, { query, top_k: topK = 5, mode = 'hybrid' }) {
    const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const hits = [];
    for (const doc of kb.documents.values())
      if (state(doc) === 'ready')
        for (const chunk of doc.chunks) {
          const lower = chunk.content.text.toLowerCase();
          const found = words.filter((word) => lower.includes(word));
          if (found.length === 0) continue;
          const score = found.length / words.length;
          const highlights = found.map((word) => {
            const at = [...lower.slice(0, lower.indexOf(word))].length;
            return [at, at + [...word].length];
          });
          hits.push({ score, document_id: doc.id, chunk, highlights, vector: { score: score * 0.8, rank: hits.length + 1 }, keyword: { score, rank: hits.length + 1 } });
        }
    hits.sort((a, b) => b.score - a.score);
    const results = hits.slice(0, topK);
    return { results, total: results.length, took_ms: 4.2, mode };
  }

  function route(request, url, body) {
    const user = request.headers['x-user-id'] ?? '';
    const path = url.pathname.replace(/\/$/, '');
    const { method } = request;
    const json = () => JSON.parse(body.toString() || '{}');
    if (path === '/identity') return { body: { ways: ['header'], oidc: null, caller: null } };
    if (path === '/health') return { body: { status: 'ok', version: '0.1.0', components: { knowledge_base: 'ok' } } };
    if (path === '/credential/schemas') return { body: { schemas } };
    if (user === '') return problem(401, 'unauthenticated', 'X-User-ID header is required.');
    const mine = of(user);
    if (path === '/credential') {
      if (method === 'GET') return { body: { credentials: [...mine.credentials.values()], total: mine.credentials.size } };
      const { data } = json();
      const { api_key: _, ...shown } = data;
      const id = newId();
      mine.credentials.set(id, { id, user_id: user, editable: true, created_at: now(), updated_at: now(), data: { ...shown, id, name: data.name || 'Openai' } });
      return { status: 201, body: { credential_id: id } };
    }
    const credential = /^\/credential\/(\w+)$/.exec(path)?.[1];
    if (credential) {
      const found = mine.credentials.get(credential);
      if (!found) return problem(404, 'credential_not_found', 'The credential was not found.');
      if (method === 'DELETE') return mine.credentials.delete(credential), { status: 204 };
      Object.assign(found.data, json().data);
      return { body: found };
    }
    if (path === '/knowledge_bases/embedding_models') {
      const providers = [{ credential: local, models: [card('universal-sentence-encoder', 'Universal Sentence Encoder (multilingual)', 512)] }];
      for (const item of mine.credentials.values())
        providers.push({ credential: item, models: [card('text-embedding-3-small', 'Text Embedding 3 Small', 1536, [1536, 512, 256])] });
      return { body: { providers, policy: { kind: 'any', dimension: null } } };
    }
    if (path === '/knowledge_bases/chunkers')
      return { body: { chunkers: [{ type: 'approx_token', parameter_schema: { type: 'object', properties: { chunk_size: { type: 'integer', default: 512, minimum: 1 }, overlap: { type: 'integer', default: 50, minimum: 0 } } } }] } };
    if (path === '/knowledge_bases/supported_content_types')
      return { body: { media_types: ['application/pdf', 'image/png', 'text/markdown', 'text/plain'], extensions: ['.md', '.pdf', '.png', '.pptx', '.txt'], limits: { max_upload_bytes: 2 * 1024 ** 3 } } };
    if (path === '/knowledge_bases') {
      if (method === 'POST') {
        const id = newId();
        mine.kbs.set(id, { id, description: '', ...json(), created_at: now(), updated_at: now(), documents: new Map() });
        return { status: 201, body: { knowledge_base_id: id } };
      }
      const all = [...mine.kbs.values()].map(kbView).reverse();
      return { body: { knowledge_bases: all, total: all.length, page: 1, page_size: 128 } };
    }
    const [, , kbId, , documentId, verb] = path.split('/');
    const kb = mine.kbs.get(kbId);
    if (!kb) return problem(404, 'knowledge_base_not_found', 'The knowledge base was not found.');
    if (path.split('/').length === 3) {
      if (method === 'DELETE') return mine.kbs.delete(kbId), { status: 204 };
      if (method === 'PATCH') Object.assign(kb, json(), { updated_at: now() });
      return { body: kbView(kb) };
    }
    if (path.endsWith('/search')) return { body: search(kb, json()) };
    if (!documentId) {
      if (method === 'POST') return upload(kb, request, body);
      const { status, keywords = '', page = 1, page_size: size = 30 } = Object.fromEntries(url.searchParams);
      const all = [...kb.documents.values()].map(view).reverse().filter((item) => (!status || item.status === status) && item.filename.toLowerCase().includes(keywords.toLowerCase()));
      return { body: { documents: all.slice((page - 1) * size, page * size), total: all.length, page: Number(page), page_size: Number(size) } };
    }
    if (documentId === 'status') return { body: { items: url.searchParams.get('ids').split(',').flatMap((id) => (kb.documents.has(id) ? [view(kb.documents.get(id))] : [])) } };
    const doc = kb.documents.get(documentId);
    if (method === 'DELETE') return kb.documents.delete(documentId), { status: 204 };
    if (!doc) return problem(404, 'document_not_found', 'The document was not found.');
    if (documentId === "reindex") return { status: 202, body: { queued: [...kb.documents.values()].filter((item) => state(item) === "error").map((item) => (item.started = Date.now())).length } };
    if (verb === 'reindex') return (doc.started = Date.now()), { status: 202, body: view(doc) };
    if (verb === 'download_token') return { body: { token: `${user}.token`, expires_at: Date.now() / 1000 + 600 } };
    if (verb === 'chunks') {
      const { page = 1, page_size: size = 30 } = Object.fromEntries(url.searchParams);
      const chunks = state(doc) === 'ready' ? doc.chunks : [];
      return { body: { chunks: chunks.slice((page - 1) * size, page * size), total: chunks.length, page: Number(page), page_size: Number(size) } };
    }
    return { raw: doc };
  }

  return createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const url = new URL(request.url, 'http://mock');
      const token = url.searchParams.get('token');
      if (token) request.headers['x-user-id'] = token.slice(0, token.lastIndexOf('.'));
      let answer;
      try {
        answer = route(request, url, Buffer.concat(parts));
      } catch (error) {
        answer = problem(500, 'internal_error', String(error));
      }
      if (answer.raw) {
        const { raw } = answer;
        response.writeHead(200, { 'Content-Type': raw.type ?? 'application/octet-stream', 'Content-Length': raw.body.length, 'X-Content-Type-Options': 'nosniff' });
        response.end(raw.body);
        return;
      }
      response.writeHead(answer.status ?? 200, { 'Content-Type': 'application/json' });
      response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
    });
  });
}

if (process.argv[1]?.endsWith('mock_server.mjs')) {
  const port = Number(process.argv[2] ?? 8000);
  createMock().listen(port, '127.0.0.1', () => process.stdout.write(`listening on ${port}\n`));
}
