import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const stubDimensions = 32;

function vectorOf(text: string): number[] {
  const vector = new Array<number>(stubDimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const digest = createHash('sha256').update(word).digest();
    const slot = (digest[0] ?? 0) % stubDimensions;
    vector[slot] = (vector[slot] ?? 0) + ((digest[1] ?? 0) % 2 === 0 ? 1 : -1);
  }
  vector[0] = (vector[0] ?? 0) + 0.1;
  return vector;
}

/** A small OpenAI-compatible embedding server that can be broken and repaired. */
export class StubEmbedder {
  broken = false;
  /** After so many more calls answers are held back until `release`. */
  holdAfter = Number.POSITIVE_INFINITY;
  private held: (() => void)[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        if (request.method !== 'POST') {
          response.writeHead(404).end();
          return;
        }
        if (this.broken) {
          response.writeHead(401, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ error: { message: 'bad key', type: 'invalid_request_error' } }));
          return;
        }
        this.holdAfter -= 1;
        if (this.holdAfter < 0) {
          this.held.push(() => response.writeHead(503).end());
          return;
        }
        const { input, model } = JSON.parse(Buffer.concat(parts).toString()) as { input: string | string[]; model: string };
        const data = [input].flat().map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((yes) => this.server.listen(0, '127.0.0.1', yes));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  release(): void {
    this.holdAfter = Number.POSITIVE_INFINITY;
    for (const answer of this.held) answer();
    this.held = [];
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
