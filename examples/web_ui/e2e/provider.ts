import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  redirect: string;
  challenge: string;
  nonce: string;
  person: string;
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A small OpenID provider with a real check of PKCE; `person` is who signs in next. */
export class Provider {
  person = 'grace';
  denies = false;
  lifetimeSeconds = 300;
  renewals = 0;
  sessions = 0;
  private url = '';
  private readonly codes = new Map<string, Asked>();
  private readonly renewable = new Map<string, string>();
  private readonly key = generateKeyPairSync('rsa', { modulusLength: 2048 });
  private readonly server: Server;

  constructor(readonly clientId: string) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  get issuer(): string {
    return this.url;
  }

  async listen(): Promise<void> {
    await new Promise<void>((yes) => this.server.listen(0, '127.0.0.1', yes));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const json = (body: object, status = 200) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' });
      response.end(JSON.stringify(body));
    };
    const away = (address: string, values: Record<string, string>) => {
      response.writeHead(302, { Location: `${address}?${new URLSearchParams(values).toString()}` });
      response.end();
    };
    const asked = (name: string) => searchParams.get(name) ?? '';
    if (pathname === '/.well-known/openid-configuration')
      json({
        issuer: this.url,
        authorization_endpoint: `${this.url}/authorize`,
        token_endpoint: `${this.url}/token`,
        jwks_uri: `${this.url}/keys`,
        end_session_endpoint: `${this.url}/goodbye`,
      });
    else if (pathname === '/keys') json({ keys: [{ ...this.key.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] });
    else if (pathname === '/authorize') {
      const state = asked('state');
      if (this.denies) return away(asked('redirect_uri'), { error: 'access_denied', state });
      if (asked('response_type') !== 'code' || asked('client_id') !== this.clientId || asked('code_challenge_method') !== 'S256')
        return json({ error: 'invalid_request' }, 400);
      const code = randomBytes(12).toString('hex');
      this.codes.set(code, { redirect: asked('redirect_uri'), challenge: asked('code_challenge'), nonce: asked('nonce'), person: this.person });
      this.sessions += 1;
      away(asked('redirect_uri'), { code, state });
    } else if (pathname === '/token' && request.method === 'POST') {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      this.trade(new URLSearchParams(Buffer.concat(parts).toString()), json);
    } else if (pathname === '/goodbye') {
      this.sessions -= 1;
      response.writeHead(302, { Location: asked('post_logout_redirect_uri') });
      response.end();
    } else json({ error: 'not_found' }, 404);
  }

  private trade(form: URLSearchParams, json: (body: object, status?: number) => void): void {
    let person = this.renewable.get(form.get('refresh_token') ?? '');
    let nonce: string | undefined;
    if (form.get('grant_type') === 'authorization_code') {
      const code = form.get('code') ?? '';
      const known = this.codes.get(code);
      this.codes.delete(code);
      const proof = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
      if (known && known.challenge === proof && known.redirect === form.get('redirect_uri')) ({ person, nonce } = known);
    } else this.renewals += 1;
    if (person === undefined || form.get('client_id') !== this.clientId) return json({ error: 'invalid_grant' }, 400);
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.url, aud: this.clientId, sub: person, iat: now, exp: now + 300, jti: randomBytes(6).toString('hex'), ...(nonce ? { nonce } : {}) };
    const refresh = randomBytes(12).toString('hex');
    this.renewable.set(refresh, person);
    json({ access_token: 'opaque', token_type: 'Bearer', expires_in: this.lifetimeSeconds, id_token: this.sign(claims), refresh_token: refresh });
  }

  private sign(claims: object): string {
    const body = `${base64url({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${base64url(claims)}`;
    return `${body}.${createSign('RSA-SHA256').update(body).sign(this.key.privateKey, 'base64url')}`;
  }
}
