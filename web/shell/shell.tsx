import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { BookOpen, Code, Plus } from "lucide-react";
import { type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { API_BASE } from "../api/client.ts";
import { OpenOnUse } from "../ui/open-on-use.tsx";
import { part } from "../ui/part.tsx";
import { AccountButton } from "./account-button.tsx";
import { PLACES } from "./places.ts";
import { focusSearch, moveFocus, useShortcuts } from "./shortcuts.ts";
import { StaleNotice } from "./stale-notice.tsx";

const AccountMenu = part(async () => (await import("./account-menu.tsx")).AccountMenu);
const ShortcutHelp = part(async () => (await import("./shortcut-help.tsx")).ShortcutHelp);

const Palette = part(async () => (await import("./palette.tsx")).Palette);
/** After the first page, which does not need it. */
const InboxCount = part(async () => {
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return (await import("../inbox/inbox-count.tsx")).InboxCount;
});

/** The frame of all pages: navigation, links to the documentation, and the account. */
export function Shell() {
  const [open, setOpen] = useState<"help" | "palette">();
  const navigate = useNavigate();
  const shortcuts = useMemo(
    () => ({
      "?": () => setOpen("help"),
      ...Object.fromEntries(PLACES.map(({ to, key }) => [`g ${key}`, () => void navigate({ to, search: {} })])),
      n: (event: KeyboardEvent) => {
        // Otherwise the prompt, which gets the focus, would get the key too.
        event.preventDefault();
        void navigate({ to: "/runs/new", search: {} });
      },
      "/": (event: KeyboardEvent) => {
        event.preventDefault();
        if (!focusSearch()) void navigate({ to: "/runs", search: {} });
      },
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
    }),
    [navigate],
  );
  useShortcuts(shortcuts);
  usePaletteKey(setOpen);
  usePageFocus();
  return (
    <Frame
      account={
        <OpenOnUse trigger={(open) => <AccountButton onClick={open} />}>
          <AccountMenu onHelp={() => setOpen("help")} onPalette={() => setOpen("palette")} />
        </OpenOnUse>
      }
      inboxCount={
        <Suspense>
          <InboxCount />
        </Suspense>
      }
    >
      <StaleNotice />
      <Outlet />
      <Suspense>
        {open === "help" && <ShortcutHelp onClose={() => setOpen(undefined)} />}
        {open === "palette" && <Palette onClose={() => setOpen(undefined)} onHelp={() => setOpen("help")} />}
      </Suspense>
    </Frame>
  );
}

interface FrameProps {
  readonly account: ReactNode;
  readonly inboxCount?: ReactNode;
  readonly children: ReactNode;
}

/** The navigation around a page, which index.html has too. */
export const Frame = ({ account, inboxCount, children }: FrameProps) => (
  <div className="shell">
    <a href="#main" className="skip-link">
      Skip to content
    </a>
    <header className="sidebar">
      <div className="sidebar-top">
        <Link to="/runs" search={{}} className="brand">
          <img src="/icon.svg" alt="" width="24" height="24" />
          Runyard
        </Link>
        <Link to="/runs/new" search={{}} className="button button-primary new-run">
          <Plus size={16} aria-hidden />
          <span>New run</span>
        </Link>
      </div>
      <nav aria-label="Main" className="places">
        {PLACES.map(({ to, label, Icon }) => (
          <Link
            key={to}
            to={to}
            search={{}}
            className="place"
            activeProps={{ className: "place active" }}
            activeOptions={{ includeSearch: false }}
          >
            <Icon size={18} aria-hidden />
            <span>{label}</span>
            {to === "/inbox" && inboxCount}
          </Link>
        ))}
      </nav>
      <div className="sidebar-end">
        <nav aria-label="Documentation" className="outside">
          <a href={`${API_BASE}/docs`} className="place">
            <Code size={18} aria-hidden />
            <span>API reference</span>
          </a>
          <a href={`${API_BASE}/docs/errors`} className="place">
            <BookOpen size={18} aria-hidden />
            <span>Error codes</span>
          </a>
        </nav>
        {account}
      </div>
    </header>
    <main id="main" tabIndex={-1}>
      {children}
    </main>
  </div>
);

/** Opens the palette by Ctrl+K, or ⌘K, also while the person is typing; not above another dialog. */
function usePaletteKey(setOpen: (what: "palette") => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (document.querySelector("[role=dialog]") === null) setOpen("palette");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [setOpen]);
}

/** Moves the focus to the page that was opened, so that screen readers read on and Tab continues there. */
function usePageFocus(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const last = useRef(path);
  useEffect(() => {
    // On a phone, the places scroll.
    document.querySelector(".place.active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const isFirst = last.current === undefined;
    if (last.current === path) return;
    last.current = path;
    const main = document.getElementById("main");
    // A page may give the focus to a field of its own.
    if (!isFirst && !main?.contains(document.activeElement)) main?.focus({ preventScroll: true });
  }, [path]);
}
