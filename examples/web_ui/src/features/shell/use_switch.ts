import { useNavigate } from '@tanstack/react-router';
import { type Identity, identity, refused, switchIdentity } from '@/api/identity';
import { queryClient } from '@/api/queries';
import { uploads } from '@/features/upload/uploads';
import { forgetUnsent } from '@/features/upload/unsent';

/** Another user starts from nothing: no cached answer, upload or address of the one before remains. */
export function useSwitch() {
  const navigate = useNavigate();
  return async (next: Identity, keep = false) => {
    const before = identity.get();
    await queryClient.cancelQueries();
    // Whoever signs in again as the same user goes on where they were.
    const returning = before.token !== null && next.user === before.user && refused.get();
    const first = before.token === null && next.token !== null;
    if (!returning) {
      uploads.clear();
      if (!first) {
        forgetUnsent(before.user);
        await navigate({ to: '/', replace: true });
      }
    }
    switchIdentity(next, keep);
    if (returning) void queryClient.invalidateQueries();
    else queryClient.clear();
  };
}

/** Forget the token here and, where the provider has such a place, its session there. */
export function useSignOut() {
  const change = useSwitch();
  return async () => {
    const goodbye = identity.get().way === 'oidc' ? await import('@/api/oidc').then((oidc) => oidc.goodbyeAddress()) : null;
    refused.set(false);
    await change({ user: 'default', token: null, way: 'header', capability: 'admin' });
    if (goodbye) location.assign(goodbye);
  };
}
