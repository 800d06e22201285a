import { forget, recallText, remember } from './memory';
import { createStore } from './store';
import type { Capability } from './types';

export type Way = 'header' | 'api_key' | 'oidc';

export interface Identity {
  user: string;
  /** An API key or a provider's token, sent as a bearer token; null where the service trusts a name. */
  token: string | null;
  way: Way;
  /** What the token allows; a trusted name allows all. */
  capability: Capability;
}

const capabilities: readonly Capability[] = ['read', 'write', 'admin'];

function initial(): Identity {
  // A tab keeps its own user, so that two tabs can work as two users; a new tab starts with the last choice.
  const kept = (key: string) => recallText('session', key) ?? recallText('local', key);
  const token = kept('token');
  const way = token === null ? 'header' : kept('way') === 'oidc' ? 'oidc' : 'api_key';
  const capability = token === null ? 'admin' : (capabilities.find((item) => item === kept('capability')) ?? 'admin');
  return { user: kept('user') ?? 'default', token, way, capability };
}

export const identity = createStore<Identity>(initial());
remember('session', 'user', identity.get().user);

/** The service refused what this tab presents: nothing works until somebody signs in. */
export const refused = createStore(false);

/** Counts the sign-ins and switches of this page: everything shown belongs to one of them. */
export const sessionNumber = createStore(0);

export const mayWrite = () => identity.get().capability !== 'read';

/** Take another identity; a token stays in this tab unless it is to be kept on the device. */
export function switchIdentity(next: Identity, keep = false): void {
  if (next.way !== 'oidc') forget('session', 'login');
  for (const area of ['session', 'local'] as const) {
    const shared = area === 'local' && !keep;
    remember(area, 'token', shared ? null : next.token);
    remember(area, 'way', shared || next.token === null ? null : next.way);
    remember(area, 'capability', shared || next.token === null ? null : next.capability);
    if (!shared || next.token === null) remember(area, 'user', next.user);
  }
  identity.set(next);
  refused.set(false);
  sessionNumber.set((before) => before + 1);
}

/** A provider's new token for the same person. */
export function renewToken(token: string): void {
  for (const area of ['session', 'local'] as const) if (recallText(area, 'token') !== null) remember(area, 'token', token);
  identity.set((before) => ({ ...before, token }));
}

export function identityHeaders({ user, token } = identity.get()): Record<string, string> {
  const headers: Record<string, string> = { 'X-User-ID': asHeader(user) };
  if (token) headers.Authorization = `Bearer ${token}`;
  return headers;
}

// Browsers take only Latin-1: the UTF-8 bytes as characters, which is also what scripts send.
function asHeader(value: string): string {
  return String.fromCharCode(...new TextEncoder().encode(value));
}
