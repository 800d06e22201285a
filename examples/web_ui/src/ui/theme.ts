import { recallText, remember } from '@/api/memory';
import { createStore } from '@/api/store';

export type Theme = 'system' | 'light' | 'dark';

const stored = recallText('local', 'theme');
export const theme = createStore<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system');

const systemDark = typeof matchMedia === 'undefined' ? null : matchMedia('(prefers-color-scheme: dark)');

function apply(): void {
  const choice = theme.get();
  const dark = choice === 'dark' || (choice === 'system' && systemDark?.matches === true);
  document.documentElement.classList.toggle('dark', dark);
}

export function startTheme(): void {
  apply();
  systemDark?.addEventListener('change', apply);
  theme.subscribe(() => {
    const choice = theme.get();
    remember('local', 'theme', choice === 'system' ? null : choice);
    apply();
  });
}
