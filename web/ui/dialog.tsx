import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { toSentence } from "./format.ts";
import { revealHidden } from "./hidden-characters.ts";

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Shown with its hidden characters made visible. */
  readonly title: string;
  readonly description?: string | undefined;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** A modal dialog. Its overlay is our own, because Radix's injects a style element, which the content security policy refuses. */
export function Dialog({ open, onClose, title, description, wide, children }: DialogProps) {
  const opener = useRef<Element>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Overlay>
          <Radix.Content
            className={wide ? "dialog dialog-wide" : "dialog"}
            {...(description ? {} : { "aria-describedby": undefined })}
            onOpenAutoFocus={() => {
              opener.current = document.activeElement;
            }}
            // Radix returns the focus to a trigger of its own only.
            onCloseAutoFocus={(event) => {
              event.preventDefault();
              if (opener.current instanceof HTMLElement) opener.current.focus();
            }}
          >
            <header className="dialog-head">
              <Radix.Title className="dialog-title">{revealHidden(title)}</Radix.Title>
              <Radix.Close asChild>
                <IconButton label="Close">
                  <X size={18} aria-hidden />
                </IconButton>
              </Radix.Close>
            </header>
            {description !== undefined && <Radix.Description className="dialog-text">{description}</Radix.Description>}
            {children}
          </Radix.Content>
        </Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Covers the page, also where its scroll bar was, and keeps it from being scrolled. */
function Overlay({ children }: { readonly children: ReactNode }) {
  // Measured before the overlay is in the page, because it takes the scroll bar away.
  const [gutter] = useState(() => innerWidth - document.documentElement.offsetWidth);
  useLayoutEffect(() => {
    if (gutter > 0) document.documentElement.style.setProperty("--gutter", `${gutter}px`);
  }, [gutter]);
  return <div className="overlay">{children}</div>;
}

interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  readonly busy?: boolean;
  readonly error?: string | undefined;
  readonly onConfirm: () => void;
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({ open, onClose, title, text, action, busy = false, error, onConfirm }: ConfirmProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title} description={text}>
      {error !== undefined && (
        <p className="form-error" role="alert">
          {toSentence(error)}
        </p>
      )}
      <div className="dialog-actions">
        <Button onClick={onClose}>Keep</Button>
        <Button look="danger" busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
