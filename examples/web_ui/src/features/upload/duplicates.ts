import type { KnowledgeDocument } from '@/api/types';
import type { PickedFile } from './collect';

const largestHashed = 64 * 1024 * 1024;

async function sha256(file: File): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The picked files whose very content is already there. Only files of an equal size are read. */
export async function findDuplicates(picked: PickedFile[], existing: KnowledgeDocument[]): Promise<PickedFile[]> {
  if (!globalThis.crypto?.subtle) return [];
  const hashesOfSize = new Map<number, Set<string>>();
  for (const { size, content_sha256: hash } of existing) {
    if (!hash) continue;
    const hashes = hashesOfSize.get(size) ?? new Set();
    hashesOfSize.set(size, hashes.add(hash));
  }
  const same: PickedFile[] = [];
  for (const item of picked) {
    const hashes = hashesOfSize.get(item.file.size);
    if (!hashes || item.file.size > largestHashed) continue;
    try {
      if (hashes.has(await sha256(item.file))) same.push(item);
    } catch {
      // An unreadable file shows its reason when it is sent.
    }
  }
  return same;
}
