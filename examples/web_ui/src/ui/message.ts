import i18next from 'i18next';
import { type ApiError, toApiError } from '@/api/errors';
import type { KnowledgeDocument } from '@/api/types';

/** The sentence for an error code; an unknown code keeps the service's own line. */
export function codeText(code: string | null | undefined, fallback: string): string {
  const key = `errors.${code ?? 'internal_error'}`;
  return code && i18next.exists(key) ? i18next.t(key) : fallback || i18next.t('errors.internal_error');
}

export function errorText(cause: unknown): string {
  const error: ApiError = toApiError(cause);
  // What the service says about one's input is more exact than any text of ours.
  if (['invalid_input', 'conflict', 'bad_filter'].includes(error.code) && error.message) return error.message;
  return codeText(error.code, error.message);
}

export function failureText(document: KnowledgeDocument): string {
  return codeText(document.error_detail?.code, document.error ?? document.error_detail?.message ?? '');
}
