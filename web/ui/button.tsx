import { Check, Copy } from "lucide-react";
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useState } from "react";
import { copyText } from "./copy-text.ts";
import { revealHidden } from "./hidden-characters.ts";
import { Spinner } from "./icons.tsx";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: "primary" | "plain" | "danger" | "ghost";
  readonly small?: boolean;
  /** Shows that the action is under way, and ignores further clicks. */
  readonly busy?: boolean;
  readonly icon?: ReactNode;
}

export function Button({ look = "plain", small, busy = false, icon, children, className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
      className={`button button-${look}${small ? " button-small" : ""} ${className}`.trim()}
    >
      {busy ? <Spinner /> : icon}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Read by screen readers and shown on hover, with its hidden characters made visible. */
  readonly label: string;
  readonly children: ReactNode;
}

export function IconButton({ label, children, className = "", ...rest }: IconButtonProps) {
  const name = revealHidden(label);
  return (
    <button type="button" {...rest} aria-label={name} title={name} className={`icon-button ${className}`.trim()}>
      {children}
    </button>
  );
}

/** Copies a text and confirms it. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    void copyText(typeof text === "string" ? text : text()).then(setCopied);
  };
  return (
    <IconButton label={copied ? "Copied" : label} onClick={copy} className={copied ? "copied" : ""}>
      {copied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
    </IconButton>
  );
}
