import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button';
import { Dialog } from './dialog';
import { Field, Input } from './field';

interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  description: ReactNode;
  verb: string;
  /** The text that has to be typed before the button works. */
  typed?: string;
}

/** Asks before something is destroyed; the focus starts on Cancel, or on the text to type. */
export function Confirm({ open, onClose, onConfirm, title, description, verb, typed }: ConfirmProps) {
  const { t } = useTranslation();
  const cancel = useRef<HTMLButtonElement>(null);
  const [text, setText] = useState('');
  const [shown, setShown] = useState(open);
  if (shown !== open) {
    setShown(open);
    setText('');
  }
  const allowed = typed === undefined || text.trim() === typed;

  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      description={description}
      firstFocus={typed === undefined ? cancel : undefined}
      onSubmit={() => {
        if (!allowed) return;
        onClose();
        onConfirm();
      }}
      footer={
        <>
          <Button ref={cancel} onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" variant="danger" disabled={!allowed}>
            {verb}
          </Button>
        </>
      }
    >
      {typed !== undefined ? (
        <Field label={t('common.typeToConfirm', { name: typed })}>
          {(ids) => <Input {...ids} value={text} autoComplete="off" onChange={(event) => setText(event.target.value)} />}
        </Field>
      ) : undefined}
    </Dialog>
  );
}
