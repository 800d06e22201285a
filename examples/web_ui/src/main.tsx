import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { identity } from './api/identity';
import { queryClient } from './api/queries';
import { finishLogin } from './api/returning';
import { startLanguage } from './i18n';
import { router } from './router';
import './styles.css';
import { startTheme } from './ui/theme';

startTheme();

const root = document.getElementById('root');
if (root) {
  void Promise.all([startLanguage(), finishLogin()]).then(() => {
    if (identity.get().way === 'oidc') void import('./api/oidc').then((oidc) => oidc.keepRenewing());
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    );
  });
}
