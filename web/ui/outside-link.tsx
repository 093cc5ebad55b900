import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { revealHidden } from "./hidden-characters.ts";
import { safeUrl } from "./safe-url.ts";

/** A link that leaves the app. An address that is not safe is shown as text. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const url = safeUrl(href);
  if (url === undefined) {
    return (
      <span>
        {children}
        {href !== "" && <span className="faint"> ({revealHidden(href).slice(0, 200)})</span>}
      </span>
    );
  }
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={url.slice(0, 300)}>
      {children}
      <ExternalLink size={12} aria-label="opens in a new tab" className="outside-mark" />
    </a>
  );
}
