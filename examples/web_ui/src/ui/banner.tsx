import clsx from 'clsx';
import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

type Tone = 'info' | 'warn' | 'bad';

const looks: Record<Tone, { box: string; icon: ReactNode }> = {
  info: { box: 'bg-accent-wash text-ink', icon: <Info size={18} aria-hidden="true" className="text-accent" /> },
  warn: { box: 'bg-warn-wash text-ink', icon: <TriangleAlert size={18} aria-hidden="true" className="text-warn" /> },
  bad: { box: 'bg-bad-wash text-ink', icon: <CircleAlert size={18} aria-hidden="true" className="text-bad" /> },
};

interface BannerProps {
  tone: Tone;
  children: ReactNode;
  action?: ReactNode;
  role?: 'alert' | 'status';
}

export function Banner({ tone, children, action, role }: BannerProps) {
  return (
    <div role={role} className={clsx('flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl px-4 py-2.5 text-sm', looks[tone].box)}>
      <div className="flex min-w-0 flex-1 basis-64 items-start gap-2.5">
        <span className="mt-0.5 shrink-0">{looks[tone].icon}</span>
        <div className="min-w-0">{children}</div>
      </div>
      {action && <div className="flex flex-wrap gap-2">{action}</div>}
    </div>
  );
}
