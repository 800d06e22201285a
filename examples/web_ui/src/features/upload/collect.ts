export interface PickedFile {
  file: File;
  path: string;
}

/** All files of a drop, folders walked to the bottom, in the order they were dropped. */
export async function filesOfDrop(transfer: DataTransfer): Promise<PickedFile[]> {
  // Entries must be taken before the first await: the list is emptied when the event ends.
  const entries = [...transfer.items]
    .filter((item) => item.kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }));
  const found: PickedFile[] = [];
  for (const { entry, file } of entries) {
    if (entry?.isDirectory) await walk(entry as FileSystemDirectoryEntry, `${entry.name}/`, found);
    else if (file) found.push({ file, path: file.name });
  }
  return found;
}

async function walk(folder: FileSystemDirectoryEntry, prefix: string, found: PickedFile[]): Promise<void> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    // A reader gives at most 100 entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    children.push(...some);
  }
  children.sort((a, b) => a.name.localeCompare(b.name));
  for (const child of children) {
    if (child.isDirectory) await walk(child as FileSystemDirectoryEntry, `${prefix}${child.name}/`, found);
    else {
      const file = await new Promise<File>((resolve, reject) => (child as FileSystemFileEntry).file(resolve, reject));
      found.push({ file, path: prefix + file.name });
    }
  }
}

/** Files of an input element or the clipboard; a folder picker gives relative paths. */
export function filesOfList(list: Iterable<File>): PickedFile[] {
  return [...list].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}
