import { Check, Copy } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';

/** The text of a key, this once. Only its button closes it, so that a stray click loses nothing. */
export function KeyText({ name, text, onClose }: { name: string; text: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    field.current?.select();
    await navigator.clipboard?.writeText(text).then(() => setCopied(true), () => undefined);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      steady
      title={t('keys.textTitle', { name })}
      firstFocus={field}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('keys.done')}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Banner tone="warn">{t('keys.textOnce')}</Banner>
        <Field label={t('user.apiKey')}>
          {(ids) => (
            <span className="flex gap-2">
              <Input {...ids} ref={field} readOnly value={text} className="font-mono" onFocus={(event) => event.target.select()} />
              <Button
                className="shrink-0"
                icon={copied ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
                onClick={() => void copy()}
              >
                {copied ? t('common.copied') : t('common.copy')}
              </Button>
            </span>
          )}
        </Field>
      </div>
    </Dialog>
  );
}
