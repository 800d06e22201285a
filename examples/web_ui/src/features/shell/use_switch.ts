import { useNavigate } from '@tanstack/react-router';
import { type Identity, identity, switchIdentity } from '@/api/identity';
import { queryClient } from '@/api/queries';
import { uploads } from '@/features/upload/uploads';
import { forgetUnsent } from '@/features/upload/unsent';

/** Another user starts from nothing: no cached answer, upload or address of the one before remains. */
export function useSwitch() {
  const navigate = useNavigate();
  return async (next: Identity) => {
    uploads.clear();
    forgetUnsent(identity.get().user);
    await queryClient.cancelQueries();
    await navigate({ to: '/', replace: true });
    switchIdentity(next);
    queryClient.clear();
  };
}
