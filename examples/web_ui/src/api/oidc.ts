// Signing in at an OpenID provider: authorization code with PKCE, as a public client.
import { serviceUrl } from './connection';
import { identity, refused, renewToken } from './identity';
import { recall, remember } from './memory';
import type { Provider } from './types';

interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  /** Where the person was, behind the `#`. */
  place: string;
  provider: Provider;
}

/** What a tab keeps to renew its token and to sign out at the provider. */
interface Session {
  provider: Provider;
  refreshToken: string | null;
  idToken: string | null;
  expiresAt: number;
}

interface Discovery {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  end_session_endpoint?: string;
}

interface Tokens {
  access_token?: string;
  id_token?: string;
  refresh_token?: string;
  expires_in?: number;
}

/** Why somebody could not be signed in; `code` names a text. */
export class LoginError extends Error {
  readonly code: string;
  constructor(code: string, detail = '') {
    super(detail);
    this.code = code;
  }
}

const pendingKey = 'login/pending';
const sessionKey = 'login/session';
const renewSecondsBefore = 45;

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const redirectUri = () => serviceUrl.href;

async function discover({ issuer }: Provider): Promise<Discovery> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = await globalThis
    .fetch(url)
    .then((answer) => (answer.ok ? (answer.json() as Promise<Discovery>) : null))
    .catch(() => null);
  if (!found?.authorization_endpoint || !found.token_endpoint || found.issuer !== issuer) throw new LoginError('provider_away');
  return found;
}

/** Leave for the provider; the page comes back with a code. */
export async function leaveForProvider(provider: Provider, place: string): Promise<void> {
  if (!globalThis.crypto?.subtle) throw new LoginError('needs_https');
  const { authorization_endpoint: authorize } = await discover(provider);
  const pending: Pending = { state: random(), nonce: random(), verifier: random(), place, provider };
  remember('session', pendingKey, pending);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
  const url = new URL(authorize);
  const asked = {
    response_type: 'code',
    client_id: provider.client_id,
    redirect_uri: redirectUri(),
    scope: 'openid profile email',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  location.assign(url);
}

async function askForTokens({ token_endpoint: endpoint }: Discovery, asked: Record<string, string>): Promise<Tokens> {
  const answer = await globalThis.fetch(endpoint, { method: 'POST', body: new URLSearchParams(asked) }).catch(() => null);
  if (!answer) throw new LoginError('provider_away');
  if (!answer.ok) throw new LoginError('provider_refused');
  return (await answer.json()) as Tokens;
}

function claimsOf(token: string): Record<string, unknown> {
  const part = token.split('.')[1] ?? '';
  return JSON.parse(atob(part.replaceAll('-', '+').replaceAll('_', '/'))) as Record<string, unknown>;
}

function keepSession(provider: Provider, tokens: Tokens, before: Session | null): string {
  const token = tokens[provider.token];
  if (!token) throw new LoginError('provider_refused');
  const session: Session = {
    provider,
    refreshToken: tokens.refresh_token ?? before?.refreshToken ?? null,
    idToken: tokens.id_token ?? before?.idToken ?? null,
    expiresAt: Date.now() + (tokens.expires_in ?? 300) * 1000,
  };
  remember('session', sessionKey, session);
  return token;
}

/** Where the person was before leaving for the provider. */
export function placeLeft(): string {
  return recall<Pending | null>('session', pendingKey, null)?.place ?? '';
}

/** Trade the code that the provider sent along for a token. */
export async function comeBack(query: URLSearchParams): Promise<string> {
  const pending = recall<Pending | null>('session', pendingKey, null);
  remember('session', pendingKey, null);
  // An answer that this tab did not ask for is not one.
  if (!pending || query.get('state') !== pending.state) throw new LoginError('stale');
  const code = query.get('code');
  if (!code) throw new LoginError(query.get('error') === 'access_denied' ? 'denied' : 'provider_refused');
  const { provider } = pending;
  const tokens = await askForTokens(await discover(provider), {
    grant_type: 'authorization_code',
    code,
    client_id: provider.client_id,
    redirect_uri: redirectUri(),
    code_verifier: pending.verifier,
  });
  if (tokens.id_token && claimsOf(tokens.id_token).nonce !== pending.nonce) throw new LoginError('stale');
  return keepSession(provider, tokens, null);
}

let timer: ReturnType<typeof setTimeout> | null = null;

/** Renew the token before it ends, as long as the tab is open; without a way to, its end shows the sign-in page. */
export function keepRenewing(): void {
  if (timer !== null) clearTimeout(timer);
  const session = recall<Session | null>('session', sessionKey, null);
  if (!session?.refreshToken || identity.get().way !== 'oidc') return;
  timer = setTimeout(() => void renew(session), Math.max(1000, session.expiresAt - Date.now() - renewSecondsBefore * 1000));
}

async function renew(session: Session): Promise<void> {
  const { provider, refreshToken } = session;
  try {
    const asked = { grant_type: 'refresh_token', refresh_token: refreshToken ?? '', client_id: provider.client_id };
    const tokens = await askForTokens(await discover(provider), asked);
    renewToken(keepSession(provider, tokens, session));
    keepRenewing();
  } catch (cause) {
    if (cause instanceof LoginError && cause.code === 'provider_refused') return refused.set(true);
    timer = setTimeout(() => void renew(session), 10_000);
  }
}

/** Where the provider's own session ends; null if it offers no such place. */
export async function goodbyeAddress(): Promise<string | null> {
  if (timer !== null) clearTimeout(timer);
  const session = recall<Session | null>('session', sessionKey, null);
  if (!session) return null;
  const { end_session_endpoint: end } = await discover(session.provider).catch(() => ({}) as Partial<Discovery>);
  if (!end) return null;
  const url = new URL(end);
  url.searchParams.set('client_id', session.provider.client_id);
  url.searchParams.set('post_logout_redirect_uri', redirectUri());
  if (session.idToken) url.searchParams.set('id_token_hint', session.idToken);
  return url.href;
}
