import i18next from 'i18next';
import type { Warning } from '@/api/types';
import { codeText } from '@/ui/message';

export function warningText(warning: Warning): string {
  if (typeof warning === 'string') return warning;
  const text = warning.message ?? codeText(warning.code, '');
  return warning.pages?.length ? i18next.t('state.onPages', { text, pages: warning.pages.join(', ') }) : text;
}
