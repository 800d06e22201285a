import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Spinner } from './spinner';

/** Shows nothing for the first moment: most waits are shorter than a blink. */
export function Loading() {
  const { t } = useTranslation();
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" className="flex min-h-40 items-center justify-center gap-2 text-sm text-soft">
      {late && (
        <>
          <Spinner />
          {t('common.loading')}
        </>
      )}
    </div>
  );
}
