/** What went wrong with one call, in the words of the service. `status` 0: it could not be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | null;
  readonly fields: Record<string, string>;

  constructor(
    status: number,
    code: string,
    message: string,
    extra: { retryAfterSeconds?: number | null; fields?: Record<string, string> } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = extra.retryAfterSeconds ?? null;
    this.fields = extra.fields ?? {};
  }

  get unreachable(): boolean {
    return this.status === 0;
  }
}

interface ValidationItem {
  loc?: (string | number)[];
  msg?: string;
}

const codeOfStatus: Record<number, string> = {
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported_media_type',
  422: 'invalid_input',
  429: 'quota_exceeded',
  503: 'unavailable',
};

/** Read any error answer: problem objects, plain strings and validation lists. */
export function errorFrom(status: number, body: unknown, retryAfter: string | null): ApiError {
  // A proxy in front of a stopped service answers without JSON: that is "not reachable", a 500 is not.
  const json = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null;
  if (!json && [502, 503, 504].includes(status)) return new ApiError(0, 'unreachable', `HTTP ${status}`);
  const fields: Record<string, string> = {};
  let message = '';
  const detail = json?.detail;
  if (typeof detail === 'string') message = detail;
  else if (Array.isArray(detail)) {
    for (const item of detail as ValidationItem[]) {
      const name = item.loc?.filter((part) => typeof part === 'string' && !['body', 'query', 'header'].includes(part)).at(-1);
      if (name !== undefined && item.msg) fields[String(name)] ??= item.msg;
    }
    message = (detail as ValidationItem[]).map((item) => item.msg).filter(Boolean).join('; ');
  }
  const code = typeof json?.code === 'string' ? json.code : (codeOfStatus[status] ?? 'internal_error');
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  return new ApiError(status, code, message || `HTTP ${status}`, {
    fields,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
  });
}

export function networkError(cause: unknown): ApiError {
  return new ApiError(0, 'unreachable', cause instanceof Error ? cause.message : String(cause));
}

export function toApiError(cause: unknown): ApiError {
  return cause instanceof ApiError ? cause : new ApiError(-1, 'internal_error', String(cause));
}
