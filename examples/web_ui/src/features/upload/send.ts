import { documents } from '@/api/calls';
import { reportFailure, reportReached } from '@/api/connection';
import { errorFrom, networkError } from '@/api/errors';
import { identityHeaders } from '@/api/identity';
import type { UploadAnswer } from '@/api/types';
import type { Sending, UploadItem } from './queue';

/** Send one file; XMLHttpRequest, because fetch does not tell how many bytes have left. */
export function sendFile(item: UploadItem, onProgress: (loaded: number) => void): Sending {
  const request = new XMLHttpRequest();
  const done = new Promise<UploadAnswer>((resolve, reject) => {
    request.open('POST', documents.uploadUrl(item.kbId));
    for (const [name, value] of Object.entries(identityHeaders())) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onProgress(Math.min(event.loaded, item.file.size));
    request.onload = () => {
      const body = parse(request.responseText);
      if (request.status >= 200 && request.status < 300) {
        reportReached();
        resolve(body as UploadAnswer);
        return;
      }
      const error = errorFrom(request.status, body, request.getResponseHeader('retry-after'));
      reportFailure(error);
      reject(error);
    };
    request.onerror = () => {
      const error = networkError('');
      reportFailure(error);
      reject(error);
    };
    request.onabort = () => reject(networkError('aborted'));
  });
  const form = new FormData();
  form.append('on_duplicate', item.onDuplicate);
  const folder = item.path.slice(0, item.path.lastIndexOf('/') + 1);
  if (folder) form.append('metadata', JSON.stringify({ folder: folder.slice(0, -1) }));
  form.append('file', item.file, item.file.name);
  request.send(form);
  return { done, abort: () => request.abort() };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
