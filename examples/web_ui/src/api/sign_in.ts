import { type Identity, type Way } from './identity';
import { ApiError } from './errors';
import { whoIs } from './who';

/** The identity that a token proves; asks the service, which may refuse it. */
export async function signedIn(token: string, way: Way): Promise<Identity> {
  const { caller } = await whoIs({ Authorization: `Bearer ${token}` });
  if (!caller) throw new ApiError(401, 'unauthenticated', '');
  return { user: caller.user_id, token, way, capability: caller.capability };
}
