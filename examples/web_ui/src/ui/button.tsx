import clsx from 'clsx';
import type { ComponentPropsWithRef, ReactNode } from 'react';
import { Spinner } from './spinner';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';

const looks: Record<Variant, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  secondary: 'bg-surface text-ink border-line hover:border-line-strong hover:bg-sunken',
  ghost: 'bg-transparent text-ink border-transparent hover:bg-sunken',
  danger: 'bg-bad-solid text-on-accent border-transparent hover:opacity-90',
};

export function buttonClass(variant: Variant = 'secondary', size: 'md' | 'sm' = 'md'): string {
  return clsx(
    'inline-flex items-center justify-center gap-2 rounded-lg border font-medium transition-colors select-none text-center',
    'disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-not-allowed aria-disabled:opacity-60',
    size === 'md' ? 'min-h-9 px-3.5 py-1.5 text-sm' : 'min-h-7 px-2.5 py-0.5 text-[0.8125rem]',
    looks[variant],
  );
}

interface ButtonProps extends ComponentPropsWithRef<'button'> {
  variant?: Variant;
  size?: 'md' | 'sm';
  icon?: ReactNode;
  busy?: boolean;
}

export function Button({ variant, size, icon, busy, className, children, type = 'button', disabled, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
      className={clsx(buttonClass(variant, size), className)}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentPropsWithRef<'button'> {
  label: string;
  icon: ReactNode;
}

export function IconButton({ label, icon, className, type = 'button', ...rest }: IconButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      aria-label={label}
      title={label}
      className={clsx(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-soft transition-colors hover:bg-sunken hover:text-ink',
        'disabled:cursor-not-allowed disabled:opacity-50',
        className,
      )}
    >
      {icon}
    </button>
  );
}
