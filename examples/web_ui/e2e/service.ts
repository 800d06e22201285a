import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const repository = resolve(import.meta.dirname, '../../..');
const binaries = process.env.SERVICE_BIN ?? join(repository, '.venv/bin');

export const python = join(binaries, 'python');
export const hasService = existsSync(join(binaries, 'agentscope-rag'));

export async function freePort(): Promise<number> {
  return new Promise((yes, no) => {
    const server = createServer();
    server.once('error', no);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (address && typeof address === 'object' ? yes(address.port) : no(new Error('no port'))));
    });
  });
}

/** The real service with its embedded defaults, in a directory of its own. */
export class Service {
  readonly folder = mkdtempSync(join(tmpdir(), 'rag-ui-'));
  readonly port: number;
  private child: ChildProcess | null = null;

  private readonly settings: Record<string, string>;

  constructor(port: number, settings: Record<string, string> = {}) {
    this.port = port;
    this.settings = settings;
  }

  /** A key of a user, made on the command line as an operator would. */
  key(user: string, capability: string): string {
    const command = ['keys', 'create', '--for', user, '--name', 'first', '--capability', capability, '--data-dir', this.dataFolder];
    const env = { ...process.env, ...this.settings };
    return execFileSync(join(binaries, 'agentscope-rag'), command, { env, encoding: 'utf8' }).trim();
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get dataFolder(): string {
    return join(this.folder, 'data');
  }

  async start(): Promise<void> {
    const log = openSync(join(this.folder, 'service.log'), 'a');
    const child = spawn(
      join(binaries, 'agentscope-rag'),
      ['serve', '--port', String(this.port), '--data-dir', this.dataFolder],
      { stdio: ['ignore', log, log], env: { ...process.env, ...this.settings } },
    );
    this.child = child;
    await waitFor(async () => {
      if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}: ${this.folder}/service.log`);
      return (await fetch(`${this.url}/health`).catch(() => null))?.ok ?? false;
    }, 60_000);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((yes) => child.once('exit', yes));
    child.kill(signal);
    await ended;
  }

  async end(): Promise<void> {
    await this.stop();
    if (!process.env.KEEP_DATA) rmSync(this.folder, { recursive: true, force: true });
  }

  async call<T>(method: string, path: string, body?: unknown, user = 'default', key = ''): Promise<T> {
    const send = () => fetch(this.url + path, {
      method,
      headers: { 'X-User-ID': user, ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(body instanceof FormData ? {} : { 'Content-Type': 'application/json' }) },
      body: body instanceof FormData ? body : body === undefined ? undefined : JSON.stringify(body),
    });
    // A kept connection may have been closed by the other side just now.
    const answer = await send().catch(send);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }

  /** A knowledge base with the local model, or with the given one. */
  async knowledgeBase(name: string, user = 'default', model?: object, key = ''): Promise<string> {
    const local = async () => {
      const { providers } = await this.call<{ providers: Provider[] }>('GET', '/knowledge_bases/embedding_models', undefined, user, key);
      const found = providers.find((item) => item.credential.data.type === 'local_credential');
      const card = found?.models[0];
      if (!found || !card) throw new Error('no local model');
      return { type: found.credential.data.type, credential_id: found.credential.id, model: card.name, dimensions: card.dimensions };
    };
    const body = { name, embedding_model_config: model ?? (await local()) };
    return (await this.call<{ knowledge_base_id: string }>('POST', '/knowledge_bases/', body, user, key)).knowledge_base_id;
  }

  async upload(kb: string, file: { name: string; mimeType: string; buffer: Buffer }, user = 'default'): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(file.buffer)], { type: file.mimeType }), file.name);
    return (await this.call<{ document_id: string }>('POST', `/knowledge_bases/${kb}/documents`, form, user)).document_id;
  }

  /** Wait until nothing of the knowledge base moves any more. */
  async settled(kb: string, user = 'default'): Promise<Record<string, number>> {
    let counts: Record<string, number> = {};
    await waitFor(async () => {
      counts = (await this.call<{ status_counts: Record<string, number> }>('GET', `/knowledge_bases/${kb}`, undefined, user)).status_counts;
      return ['pending', 'parsing', 'chunking', 'indexing'].every((state) => counts[state] === 0);
    }, 60_000);
    return counts;
  }
}

interface Provider {
  credential: { id: string; data: { type: string } };
  models: { name: string; dimensions: number }[];
}

export async function waitFor(done: () => Promise<boolean>, limitMs: number): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await done())) {
    if (Date.now() > end) throw new Error('it took too long');
    await new Promise((yes) => setTimeout(yes, 100));
  }
}
