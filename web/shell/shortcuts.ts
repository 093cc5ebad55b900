import { useLayoutEffect } from "react";

export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** How long `g` waits for the key of a page. */
const PREFIX_MS = 1500;
const last: { event?: KeyboardEvent; prefix: string } = { prefix: "" };

/** The name of a pressed key: `r`, or `g r` after a `g`. Every handler of the event gets the same one. */
function nameKey(event: KeyboardEvent): string {
  if (event !== last.event) {
    const isSecond =
      last.event?.key === "g" && last.prefix === "" && event.timeStamp - last.event.timeStamp < PREFIX_MS;
    last.prefix = isSecond ? "g " : "";
    last.event = event;
  }
  return last.prefix + event.key;
}

/** Handles single keys, and those after `g`, unless the person is typing, a dialog is open or a modifier is held. */
export function useShortcuts(shortcuts: Shortcuts): void {
  // Before the page is painted, so that a key pressed as soon as something is visible is not lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || document.querySelector("[role=dialog], [role=menu]") !== null) return;
      shortcuts[nameKey(event)]?.(event);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [shortcuts]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

let isSearchWanted = false;

/** Moves the focus to the search of the page, or, if the page has none, to that of the next page that has one. */
export function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>("#main input[type=search]");
  search?.focus();
  isSearchWanted = search === null;
  return search !== null;
}

/** Whether the search of a page that appears should have the focus. */
export function takeSearchFocus(): boolean {
  const isWanted = isSearchWanted;
  isSearchWanted = false;
  return isWanted;
}

/** Moves the focus to the next or previous item of the page's lists. */
export function moveFocus(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>("#main a.item-title")];
  const current = items.findIndex((item) => item.matches(":focus"));
  items[Math.max(0, Math.min(items.length - 1, current + by))]?.focus();
}
