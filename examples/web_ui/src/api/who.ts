import { serviceUrl } from './connection';
import { errorFrom, networkError } from './errors';
import { identity, identityHeaders } from './identity';
import type { Who } from './types';

export async function whoIs(headers: Record<string, string>): Promise<Who> {
  let answer: Response;
  try {
    answer = await globalThis.fetch(new URL('identity', serviceUrl), { headers, cache: 'no-store' });
  } catch (cause) {
    throw networkError(cause);
  }
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw errorFrom(answer.status, body, answer.headers.get('retry-after'));
  return body as Who;
}

/** The ways in, and who this tab is; with a token that is refused, nobody. */
export async function waysIn(): Promise<Who> {
  const { token } = identity.get();
  if (token === null) return whoIs(identityHeaders());
  return whoIs(identityHeaders()).catch(() => whoIs({}));
}
