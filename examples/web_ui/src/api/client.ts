import createClient from 'openapi-fetch';
import { reportFailure, reportReached, serviceUrl } from './connection';
import { errorFrom, networkError } from './errors';
import { identityHeaders } from './identity';
import type { paths } from './schema';

// The identity header is added below, so no call has to name it.
type WithoutHeader<P> = {
  [Path in keyof P]: {
    [Method in keyof P[Path]]: P[Path][Method] extends { parameters: infer Parameters }
      ? Omit<P[Path][Method], 'parameters'> & { parameters: Omit<Parameters, 'header'> & { header?: never } }
      : P[Path][Method];
  };
};

export const client = createClient<WithoutHeader<paths>>({
  baseUrl: serviceUrl.href.replace(/\/$/, ''),
  // Looked up per call, so that tests can replace it.
  fetch: (request) => globalThis.fetch(request),
});

client.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(identityHeaders())) request.headers.set(name, value);
    return request;
  },
});

interface Answer {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** The body of a good answer, typed by the caller, or an `ApiError`. */
export async function call<T>(answer: Promise<Answer>): Promise<T> {
  let got: Answer;
  try {
    got = await answer;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    const error = networkError(cause);
    reportFailure(error);
    throw error;
  }
  const { data, error, response } = got;
  if (response.ok) {
    reportReached();
    return data as T;
  }
  const problem = errorFrom(response.status, error, response.headers.get('retry-after'));
  reportFailure(problem);
  throw problem;
}
