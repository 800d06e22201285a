import clsx from 'clsx';
import { type ComponentPropsWithRef, type ReactNode, useId } from 'react';
import { CircleAlert } from 'lucide-react';

const control = clsx(
  'w-full rounded-lg border border-line-strong/70 bg-surface px-3 py-1.5 text-sm text-ink placeholder:text-soft',
  'min-h-9 aria-invalid:border-bad disabled:bg-sunken disabled:text-soft',
);

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string;
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
  optional?: string;
}

export function Field({ label, hint, error, optional, children }: FieldProps) {
  const id = useId();
  const notes = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {optional && <span className="ml-1.5 font-normal text-soft">{optional}</span>}
      </label>
      {children({ id, 'aria-describedby': notes || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="text-[0.8125rem] text-soft">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="flex items-start gap-1.5 text-[0.8125rem] text-bad">
          <CircleAlert size={15} className="mt-0.5 shrink-0" aria-hidden="true" />
          {error}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: ComponentPropsWithRef<'input'>) {
  return <input {...rest} className={clsx(control, className)} />;
}

export function Textarea({ className, ...rest }: ComponentPropsWithRef<'textarea'>) {
  return <textarea {...rest} className={clsx(control, 'resize-y', className)} />;
}

export function Select({ className, ...rest }: ComponentPropsWithRef<'select'>) {
  return <select {...rest} className={clsx(control, 'pr-8', className)} />;
}

export function Checkbox({ className, ...rest }: Omit<ComponentPropsWithRef<'input'>, 'type'>) {
  return <input {...rest} type="checkbox" className={clsx('size-4 shrink-0 accent-(--accent)', className)} />;
}
