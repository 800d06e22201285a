import { serviceUrl } from '@/api/connection';
import { ApiError, errorFrom, networkError } from '@/api/errors';
import { identityHeaders } from '@/api/identity';
import type { Imported, KnowledgeBase } from '@/api/types';

type SavePicker = (options: { suggestedName: string }) => Promise<{ createWritable: () => Promise<WritableStream<Uint8Array>> }>;

/** Write the knowledge base to a file, straight to disk where the browser can; false if nobody chose a place. */
export async function exportTo(kb: KnowledgeBase, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<boolean> {
  const name = `${kb.name.replace(/[\\/:*?"<>|]/g, '_').slice(0, 100)}.tar`;
  const pick = (window as { showSaveFilePicker?: SavePicker }).showSaveFilePicker;
  let target: WritableStream<Uint8Array> | null = null;
  if (pick) {
    const handle = await pick.call(window, { suggestedName: name }).catch(() => null);
    if (!handle) return false;
    target = await handle.createWritable();
  }
  const answer = await globalThis
    .fetch(new URL(`knowledge_bases/${kb.id}/export`, serviceUrl), { headers: identityHeaders(), signal })
    .catch((cause: unknown) => {
      throw networkError(cause);
    });
  if (!answer.ok || !answer.body) throw errorFrom(answer.status, await answer.json().catch(() => null), null);
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
  });
  const stream = answer.body.pipeThrough(counted);
  if (target) await stream.pipeTo(target, { signal });
  else save(await new Response(stream).blob(), name);
  return true;
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Send an exported file; the service says what it made of it. */
export function importFrom(file: File, name: string, onSent: (share: number) => void, signal: AbortSignal): Promise<Imported> {
  const url = new URL('knowledge_bases/import', serviceUrl);
  if (name) url.searchParams.set('name', name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    for (const [header, value] of Object.entries(identityHeaders())) request.setRequestHeader(header, value);
    request.setRequestHeader('Content-Type', 'application/x-tar');
    request.upload.onprogress = (event) => onSent(file.size > 0 ? event.loaded / file.size : 1);
    request.onload = () => {
      const body = read(request.responseText);
      if (request.status === 201) resolve(body as Imported);
      else reject(errorFrom(request.status, body, null));
    };
    request.onerror = () => reject(networkError(''));
    request.onabort = () => reject(new ApiError(0, 'cancelled', ''));
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
