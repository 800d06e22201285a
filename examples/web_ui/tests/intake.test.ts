import { describe, expect, it } from 'vitest';
import type { KnowledgeDocument, SupportedTypes } from '@/api/types';
import { filesOfDrop, filesOfList, type PickedFile } from '@/features/upload/collect';
import { findDuplicates } from '@/features/upload/duplicates';
import { triage } from '@/features/upload/triage';
import { fingerprint, matchUnsent, recallUnsent, rememberUnsent } from '@/features/upload/unsent';

const picked = (path: string, content = 'x', type = ''): PickedFile => ({
  file: new File([content], path.slice(path.lastIndexOf('/') + 1), { type, lastModified: 5 }),
  path,
});
const supported: SupportedTypes = { media_types: ['text/plain'], extensions: ['.md'], limits: { upload_bytes: 10 } };

const fileEntry = (name: string) => ({ isDirectory: false, name, file: (yes: (file: File) => void) => yes(new File(['x'], name)) });
const folderEntry = (name: string, children: object[]) => ({
  isDirectory: true,
  name,
  createReader: () => {
    const left = [...children];
    // Browsers give a folder in parts.
    return { readEntries: (yes: (entries: object[]) => void) => yes(left.splice(0, 2)) };
  },
});
const item = (entry: object | null, file: File | null) => ({ kind: 'file', webkitGetAsEntry: () => entry, getAsFile: () => file });

describe('taking files in', () => {
  it('walks dropped folders to the bottom and keeps the drop order', async () => {
    const tree = folderEntry('top', [fileEntry('b.md'), fileEntry('a.md'), folderEntry('sub', [fileEntry('c.md')]), fileEntry('d.md')]);
    const transfer = { items: [item(fileEntry('z.md'), new File(['x'], 'z.md')), item(tree, null)] } as unknown as DataTransfer;
    const found = await filesOfDrop(transfer);
    expect(found.map(({ path }) => path)).toEqual(['z.md', 'top/a.md', 'top/b.md', 'top/d.md', 'top/sub/c.md']);
  });

  it('takes a plain list with its relative paths', () => {
    const file = new File(['x'], 'a.md');
    Object.defineProperty(file, 'webkitRelativePath', { value: 'folder/a.md' });
    expect(filesOfList([file, new File(['x'], 'b.md')]).map(({ path }) => path)).toEqual(['folder/a.md', 'b.md']);
  });

  it('sorts out what is not worth sending, each with its reason', () => {
    const { accepted, refused } = triage(
      [
        picked('ok.md'),
        picked('OK.MD'),
        picked('typed', 'x', 'text/plain; charset=utf-8'),
        picked('.git/config.md'),
        picked('a/Thumbs.db'),
        picked('empty.md', ''),
        picked('big.md', 'x'.repeat(11)),
        picked('movie.xyz'),
      ],
      supported,
    );
    expect(accepted.map(({ path }) => path)).toEqual(['ok.md', 'OK.MD', 'typed']);
    expect(refused.map(({ reason }) => reason)).toEqual(['hidden', 'hidden', 'empty', 'too_large', 'unsupported']);
  });

  it('refuses nothing by type while the types are unknown', () => {
    expect(triage([picked('movie.xyz')], undefined).accepted).toHaveLength(1);
  });

  it('finds the same content under another name, and nothing else', async () => {
    const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    const there = [{ size: 3, content_sha256: hash } as KnowledgeDocument];
    const same = await findDuplicates([picked('a.md', 'abc'), picked('b.md', 'abd'), picked('c.md', 'abcd')], there);
    expect(same.map(({ path }) => path)).toEqual(['a.md']);
  });

  it('recognises files that were not sent before a reload, by name, size and time', () => {
    const first = picked('folder/a.md');
    rememberUnsent('u', 'kb', [fingerprint(first)]);
    const { again, others } = matchUnsent([picked('a.md'), picked('a.md'), picked('b.md')], recallUnsent('u', 'kb'));
    expect(again).toHaveLength(1);
    expect(others).toHaveLength(2);
    rememberUnsent('u', 'kb', []);
    expect(recallUnsent('u', 'kb')).toEqual([]);
    expect(recallUnsent('other', 'kb')).toEqual([]);
  });
});
