import { forget, recall, remember } from '@/api/memory';
import type { PickedFile } from './collect';
import type { UploadItem } from './queue';

/** What is kept of a file that was not sent when the page went away: path, size, time. */
export type Fingerprint = [path: string, size: number, modified: number];

const most = 20_000;

export function fingerprint({ file, path }: { file: File; path: string }): Fingerprint {
  return [path, file.size, file.lastModified];
}

export function recallUnsent(user: string, kbId: string): Fingerprint[] {
  return recall<Fingerprint[]>('session', `unsent/${user}/${kbId}`, []);
}

export function rememberUnsent(user: string, kbId: string, files: Fingerprint[]): void {
  remember('session', `unsent/${user}/${kbId}`, files.length > 0 ? files.slice(0, most) : null);
}

export function forgetUnsent(user: string): void {
  forget('session', `unsent/${user}/`);
}

export function unsentOf(items: readonly UploadItem[]): Fingerprint[] {
  return items.filter(({ state }) => state === 'waiting' || state === 'sending').map(fingerprint);
}

/** Of newly picked files, those that were remembered as not sent (a folder may have been picked from further up). */
export function matchUnsent(picked: PickedFile[], unsent: Fingerprint[]): { again: PickedFile[]; others: PickedFile[] } {
  const key = (name: string, size: number, modified: number) => `${size}/${modified}/${name}`;
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const wanted = new Map<string, number>();
  for (const [path, size, modified] of unsent) {
    const found = key(nameOf(path), size, modified);
    wanted.set(found, (wanted.get(found) ?? 0) + 1);
  }
  const result = { again: [] as PickedFile[], others: [] as PickedFile[] };
  for (const item of picked) {
    const found = key(item.file.name, item.file.size, item.file.lastModified);
    const left = wanted.get(found) ?? 0;
    wanted.set(found, left - 1);
    (left > 0 ? result.again : result.others).push(item);
  }
  return result;
}
