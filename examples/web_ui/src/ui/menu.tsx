import clsx from 'clsx';
import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useState } from 'react';

const item = clsx(
  'flex min-h-8 items-center gap-2.5 rounded-md px-2.5 py-1 text-sm outline-none select-none',
  'data-highlighted:bg-accent-wash data-disabled:opacity-50',
);

/** Not modal: the page behind stays alive, and nothing locks its scrolling. Lives inside the main landmark. */
export function Menu({ trigger, children, align = 'end' }: { trigger: ReactNode; children: ReactNode; align?: 'start' | 'end' }) {
  // Looked up when it opens: the header is there before the landmark is.
  const [place, setPlace] = useState<HTMLElement | null>(null);
  return (
    <DropdownMenu.Root modal={false} onOpenChange={(open) => open && setPlace(document.getElementById('main'))}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={place}>
        <DropdownMenu.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-[calc(100vw-1rem)] min-w-44 rounded-xl border border-line bg-raised p-1 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  icon?: ReactNode;
  children: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
}

export function MenuItem({ icon, children, onSelect, danger, disabled }: MenuItemProps) {
  return (
    <DropdownMenu.Item className={clsx(item, danger && 'text-bad')} onSelect={onSelect} disabled={disabled}>
      {icon}
      {children}
    </DropdownMenu.Item>
  );
}

interface MenuChoiceProps<V extends string> {
  label: string;
  value: V;
  options: { value: V; label: string; icon?: ReactNode }[];
  onChange: (value: V) => void;
}

export function MenuChoice<V extends string>({ label, value, options, onChange }: MenuChoiceProps<V>) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={(next) => onChange(next as V)} aria-label={label}>
      <DropdownMenu.Label className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-soft">{label}</DropdownMenu.Label>
      {options.map((option) => (
        <DropdownMenu.RadioItem key={option.value} value={option.value} className={clsx(item, 'justify-between')}>
          <span className="flex items-center gap-2.5">
            {option.icon}
            {option.label}
          </span>
          <DropdownMenu.ItemIndicator>
            <span aria-hidden="true" className="block size-2 rounded-full bg-accent" />
          </DropdownMenu.ItemIndicator>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

export function MenuLine() {
  return <DropdownMenu.Separator className="my-1 border-t border-line" />;
}
