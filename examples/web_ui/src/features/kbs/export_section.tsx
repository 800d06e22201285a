import { Check, FileDown } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { KnowledgeBase } from '@/api/types';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { formatBytes } from '@/ui/format';
import { errorText } from '@/ui/message';
import { exportTo } from './archive';

/** One file with everything in it, for another service or a safe place. */
export function ExportSection({ kb, className }: { kb: KnowledgeBase; className: string }) {
  const { t } = useTranslation();
  const [bytes, setBytes] = useState<number | null>(null);
  const [done, setDone] = useState(false);
  const [problem, setProblem] = useState('');
  const stop = useRef<AbortController | null>(null);

  const run = async () => {
    setProblem('');
    setDone(false);
    setBytes(0);
    const control = new AbortController();
    stop.current = control;
    let told = 0;
    try {
      setDone(
        await exportTo(
          kb,
          (now) => {
            if (Date.now() - told < 100) return;
            told = Date.now();
            setBytes(now);
          },
          control.signal,
        ),
      );
    } catch (cause) {
      if (!control.signal.aborted) setProblem(errorText(cause));
    } finally {
      setBytes(null);
    }
  };

  return (
    <section className={`${className} flex flex-col gap-3`} aria-labelledby="export-title">
      <div>
        <h2 id="export-title" className="font-semibold">
          {t('archive.exportTitle')}
        </h2>
        <p className="mt-1 text-sm text-soft">{t('archive.exportText')}</p>
      </div>
      {problem && (
        <Banner tone="bad" role="alert">
          {problem}
        </Banner>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button busy={bytes !== null} icon={<FileDown size={16} aria-hidden="true" />} onClick={() => void run()}>
          {t('archive.export')}
        </Button>
        {bytes !== null && (
          <Button variant="ghost" onClick={() => stop.current?.abort()}>
            {t('common.cancel')}
          </Button>
        )}
        <span role="status" className="text-sm text-soft tabular-nums">
          {bytes !== null && t('archive.written', { size: formatBytes(bytes) })}
          {done && (
            <span className="inline-flex items-center gap-1.5 text-good">
              <Check size={16} aria-hidden="true" />
              {t('archive.exported')}
            </span>
          )}
        </span>
      </div>
    </section>
  );
}
