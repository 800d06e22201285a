import type { ReactNode } from 'react';

interface EmptyStateProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-2xl border border-dashed border-line bg-surface px-5 py-12 text-center">
      <div className="flex size-12 items-center justify-center rounded-2xl bg-accent-wash text-accent">{icon}</div>
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="max-w-lg text-sm text-soft">{children}</div>}
      {action && <div className="mt-1">{action}</div>}
    </div>
  );
}
