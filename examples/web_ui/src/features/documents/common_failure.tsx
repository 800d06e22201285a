import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { KnowledgeDocument } from '@/api/types';
import { Banner } from '@/ui/banner';
import { buttonClass } from '@/ui/button';
import { codeText } from '@/ui/message';

const sharedCauses = new Set([
  'embedding_auth',
  'embedding_error',
  'embedding_timeout',
  'credential_not_found',
  'embedding_model_changed',
]);

/** One banner when documents fail for a reason that is not theirs. */
export function CommonFailure({ kbId, rows }: { kbId: string; rows: KnowledgeDocument[] }) {
  const { t } = useTranslation();
  const code = rows.find((row) => ['error', 'pending'].includes(row.status) && sharedCauses.has(row.error_detail?.code ?? ''))?.error_detail?.code;
  if (!code) return null;
  return (
    <Banner
      tone="warn"
      action={
        code === 'embedding_model_changed' ? (
          <Link to="/kb/$kbId/settings" params={{ kbId }} className={buttonClass('secondary', 'sm')}>
            {t('kb.tabSettings')}
          </Link>
        ) : (
          <Link to="/credentials" className={buttonClass('secondary', 'sm')}>
            {t('nav.credentials')}
          </Link>
        )
      }
    >
      {codeText(code, '')}
    </Banner>
  );
}
