import { switchIdentity } from './identity';
import { createStore } from './store';

/** The code of what went wrong at the provider, for the sign-in page. */
export const loginProblem = createStore('');

/** Finish a sign-in that went through a provider: the address carries its answer. */
export async function finishLogin(): Promise<void> {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return;
  const [oidc, { signedIn }] = await Promise.all([import('./oidc'), import('./sign_in')]);
  const place = oidc.placeLeft();
  try {
    switchIdentity(await signedIn(await oidc.comeBack(query), 'oidc'));
  } catch (cause) {
    loginProblem.set(cause instanceof oidc.LoginError ? cause.code : 'service_refused');
  }
  // The code is used up and must not stay in the address or the history.
  history.replaceState(null, '', location.pathname + place);
}
