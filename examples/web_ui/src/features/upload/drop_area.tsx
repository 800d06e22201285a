import { FolderUp, Upload } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { formatBytes } from '@/ui/format';
import { filesOfDrop, filesOfList, type PickedFile } from './collect';

interface DropAreaProps {
  onFiles: (files: PickedFile[]) => void;
  busy: boolean;
  large: boolean;
  limit: number | null;
}

/** Files come in by drop anywhere on the page, by two pickers or by paste. */
export function DropArea({ onFiles, busy, large, limit }: DropAreaProps) {
  const { t } = useTranslation();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const over = usePageDrop(onFiles);
  usePaste(onFiles);

  const picked = (input: HTMLInputElement) => {
    const list = filesOfList(input.files ?? []);
    input.value = '';
    onFiles(list);
  };

  return (
    <>
      <section
        aria-label={t('drop.title')}
        className={`flex flex-col items-center justify-center gap-3 rounded-2xl border border-dashed border-line-strong/60 bg-surface px-5 text-center ${
          large ? 'py-14' : 'py-5 sm:flex-row sm:justify-between sm:text-left'
        }`}
      >
        {large && (
          <span className="flex size-12 items-center justify-center rounded-2xl bg-accent-wash text-accent">
            <Upload size={24} aria-hidden="true" />
          </span>
        )}
        <div>
          <p className={large ? 'text-lg font-semibold' : 'text-sm font-medium'}>{t('drop.lead')}</p>
          <p className="text-[0.8125rem] text-soft">{limit ? t('drop.hintLimit', { limit: formatBytes(limit) }) : t('drop.hint')}</p>
        </div>
        <div className="flex flex-wrap justify-center gap-2">
          <Button variant="primary" busy={busy} icon={<Upload size={16} aria-hidden="true" />} onClick={() => files.current?.click()}>
            {t('drop.files')}
          </Button>
          <Button icon={<FolderUp size={16} aria-hidden="true" />} onClick={() => folder.current?.click()}>
            {t('drop.folder')}
          </Button>
        </div>
        <input ref={files} type="file" multiple hidden data-testid="file-input" onChange={(event) => picked(event.currentTarget)} />
        <input
          ref={(element) => {
            folder.current = element;
            element?.setAttribute('webkitdirectory', '');
          }}
          type="file"
          multiple
          hidden
          data-testid="folder-input"
          onChange={(event) => picked(event.currentTarget)}
        />
      </section>
      {over && (
        <div className="pointer-events-none fixed inset-3 z-40 flex items-center justify-center rounded-3xl border-2 border-dashed border-accent bg-accent-wash/90 text-xl font-semibold text-accent">
          {t('drop.release')}
        </div>
      )}
    </>
  );
}

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

function usePageDrop(onFiles: (files: PickedFile[]) => void): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  useEffect(() => {
    latest.current = onFiles;
  });
  useEffect(() => {
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const stay = (event: DragEvent) => {
      if (carriesFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (event.dataTransfer) void filesOfDrop(event.dataTransfer).then((files) => latest.current(files));
    };
    const listeners = { dragenter: enter, dragleave: leave, dragover: stay, drop } as const;
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name, listener as EventListener);
    };
  }, []);
  return over;
}

function usePaste(onFiles: (files: PickedFile[]) => void): void {
  const latest = useRef(onFiles);
  useEffect(() => {
    latest.current = onFiles;
  });
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const files = event.clipboardData?.files;
      if (!files || files.length === 0) return;
      event.preventDefault();
      latest.current(filesOfList(files));
    };
    window.addEventListener('paste', paste);
    return () => window.removeEventListener('paste', paste);
  }, []);
}
