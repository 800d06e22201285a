import { Download, RotateCw, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { formatNumber } from '@/ui/format';
import type { Bulk } from './use_bulk';

const icon = { size: 15, 'aria-hidden': true } as const;
const mostDownloads = 50;

export function BulkBar({ bulk, total }: { bulk: Bulk; total: number }) {
  const { t } = useTranslation();
  const { count, everything } = bulk;
  return (
    <div
      role="group"
      aria-label={t('bulk.title')}
      className="sticky top-16 z-20 flex flex-wrap items-center gap-2 rounded-xl border border-line bg-raised px-4 py-2 shadow-float"
    >
      <p className="mr-auto text-sm font-medium">{t('bulk.selected', { count, shown: formatNumber(count) })}</p>
      {!everything && total > count && (
        <Button size="sm" variant="ghost" onClick={bulk.selectAll}>
          {t('bulk.selectAll', { count: total, shown: formatNumber(total) })}
        </Button>
      )}
      <Button size="sm" icon={<RotateCw {...icon} />} onClick={() => void bulk.retrySelection()}>
        {t('table.reindex')}
      </Button>
      {count <= mostDownloads && (
        <Button size="sm" icon={<Download {...icon} />} onClick={() => void bulk.downloadSelection()}>
          {t('table.download')}
        </Button>
      )}
      <Button size="sm" variant="danger" icon={<Trash2 {...icon} />} onClick={bulk.askRemoveSelection}>
        {t('table.delete')}
      </Button>
      <Button size="sm" variant="ghost" onClick={bulk.clear}>
        {t('bulk.clear')}
      </Button>
    </div>
  );
}
