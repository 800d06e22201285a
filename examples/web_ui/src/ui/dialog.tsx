import clsx from 'clsx';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type FormEvent, type ReactNode, type RefObject, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from './button';

let locks = 0;

/** Hold the page still behind a dialog; the room of the scroll bar stays, so nothing jumps. */
function lockScroll(): () => void {
  const { classList, style, clientWidth } = document.documentElement;
  if (locks++ === 0) {
    style.paddingRight = `${window.innerWidth - clientWidth}px`;
    classList.add('overflow-hidden');
  }
  return () => {
    if (--locks > 0) return;
    style.paddingRight = '';
    classList.remove('overflow-hidden');
  };
}

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  onSubmit?: () => void;
  wide?: boolean;
  /** A click beside it does not close it. */
  steady?: boolean;
  /** The element to focus first; otherwise the first one. */
  firstFocus?: RefObject<HTMLElement | null>;
}

/** The overlay is our own: the one of Radix writes a style element, which the content policy forbids. */
export function Dialog({ open, onClose, title, description, children, footer, onSubmit, wide, steady, firstFocus }: DialogProps) {
  const { t } = useTranslation();
  useEffect(() => {
    if (!open) return;
    return lockScroll();
  }, [open]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    onSubmit?.();
  };
  const body = (
    <>
      {children !== undefined && <div className="min-h-0 overflow-y-auto px-5 py-4">{children}</div>}
      {footer && (
        <div className="flex flex-wrap justify-end gap-2 border-t border-line bg-sunken/60 px-5 py-3">{footer}</div>
      )}
    </>
  );

  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <div className="fixed inset-0 z-40 bg-[#0b0e18]/40" aria-hidden="true" />
        <Radix.Content
          aria-describedby={description ? undefined : ''}
          onOpenAutoFocus={(event) => {
            if (!firstFocus?.current) return;
            event.preventDefault();
            firstFocus.current.focus();
          }}
          onInteractOutside={(event) => steady && event.preventDefault()}
          className={clsx(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[min(46rem,calc(100dvh-2rem))] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2',
            'flex-col overflow-hidden rounded-2xl border border-line bg-raised shadow-float outline-none',
            wide ? 'max-w-2xl' : 'max-w-lg',
          )}
        >
          <div className="flex items-start gap-3 px-5 pt-4 pb-1">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lg leading-snug font-semibold">{title}</Radix.Title>
              {description && <Radix.Description className="mt-1 text-sm text-soft">{description}</Radix.Description>}
            </div>
            <Radix.Close asChild>
              <IconButton label={t('common.close')} icon={<X size={18} aria-hidden="true" />} className="-mr-1.5" />
            </Radix.Close>
          </div>
          {onSubmit ? (
            <form onSubmit={submit} noValidate className="flex min-h-0 flex-col">
              {body}
            </form>
          ) : (
            <div className="flex min-h-0 flex-col">{body}</div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
