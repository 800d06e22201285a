import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Banner } from '@/ui/banner';
import { Button } from '@/ui/button';
import { formatNumber } from '@/ui/format';
import { filesOfList, type PickedFile } from './collect';

interface UnsentNoticeProps {
  count: number;
  onFiles: (files: PickedFile[]) => void;
  onForget: () => void;
}

/** After a reload: the browser has let go of the files, so they must be chosen once more. */
export function UnsentNotice({ count, onFiles, onForget }: UnsentNoticeProps) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  return (
    <Banner
      tone="warn"
      role="status"
      action={
        <>
          <Button size="sm" onClick={() => input.current?.click()}>
            {t('unsent.choose')}
          </Button>
          <Button size="sm" variant="ghost" onClick={onForget}>
            {t('unsent.forget')}
          </Button>
        </>
      }
    >
      {t('unsent.text', { count, shown: formatNumber(count) })}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-testid="unsent-input"
        onChange={(event) => onFiles(filesOfList(event.currentTarget.files ?? []))}
      />
    </Banner>
  );
}
