import { recallText, remember } from './memory';
import { createStore } from './store';

export interface Identity {
  user: string;
  /** Kept in memory of this tab's session only; sent as a bearer token when the service asks for one. */
  apiKey: string | null;
}

// A tab keeps its own user, so that two tabs can work as two users; a new tab starts with the last choice.
const initial: Identity = {
  user: recallText('session', 'user') ?? recallText('local', 'user') ?? 'default',
  apiKey: recallText('session', 'apiKey'),
};

export const identity = createStore<Identity>(initial);

remember('session', 'user', initial.user);

export function switchIdentity(next: Identity): void {
  remember('session', 'user', next.user);
  remember('local', 'user', next.user);
  remember('session', 'apiKey', next.apiKey);
  identity.set(next);
}

export function identityHeaders(): Record<string, string> {
  const { user, apiKey } = identity.get();
  const headers: Record<string, string> = { 'X-User-ID': encodeHeader(user) };
  if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
  return headers;
}

// Header values are Latin-1; other characters travel percent-encoded.
function encodeHeader(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : encodeURIComponent(value);
}
