import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../shell/shortcuts.ts";

const NEAR = 120;
/** Frames without a change after which the end is reached, and after which it is given up. */
const STILL_FRAMES = 5;
const MAX_FRAMES = 60;

/** Pixels from the lower edge of the window, or of the menu there, to the end of `content`; negative where the end is above it. */
function distanceToEnd(content: HTMLElement | null): number {
  if (content === null) return 0;
  const covered = Number.parseFloat(getComputedStyle(content).scrollMarginBottom) || 0;
  return content.getBoundingClientRect().bottom + covered - innerHeight;
}

/** Scrolls until the end stays where it is: entries of a long conversation get their heights when they are first visible. */
function scrollToEnd(content: HTMLElement | null): void {
  let still = 0;
  const step = (frame: number) => {
    const isThere = Math.abs(distanceToEnd(content)) < 1;
    if (!isThere) content?.scrollIntoView({ block: "end" });
    still = isThere ? still + 1 : 0;
    if (still < STILL_FRAMES && frame < MAX_FRAMES) requestAnimationFrame(() => step(frame + 1));
  };
  step(0);
}

interface StickToEnd {
  /** The element whose end is followed. What is below it, such as a column that has no room next to it, does not count. */
  readonly content: RefObject<HTMLElement | null>;
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
}

/** Keeps a reader at the end of a live conversation at its end, and does not move other readers. */
export function useStickToEnd(entries: unknown, isLive: boolean): StickToEnd {
  const content = useRef<HTMLElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const wasAtEnd = useRef(false);
  useEffect(() => {
    const onScroll = () => {
      const near = distanceToEnd(content.current) < NEAR;
      wasAtEnd.current = near && scrollY > 0;
      setAtEnd(near);
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new entries are the reason to scroll.
  useEffect(() => {
    if (isLive && wasAtEnd.current) return scrollToEnd(content.current);
    // The height is known when the page is laid out; reading it earlier would lay it out twice.
    const frame = requestAnimationFrame(() => setAtEnd(distanceToEnd(content.current) < NEAR));
    return () => cancelAnimationFrame(frame);
  }, [entries, isLive]);
  const shortcuts = useMemo(
    () => ({
      End: (event: KeyboardEvent) => {
        event.preventDefault();
        scrollToEnd(content.current);
      },
    }),
    [],
  );
  useShortcuts(shortcuts);
  const toEnd = useCallback(() => scrollToEnd(content.current), []);
  return { content, isAtEnd: isAtEnd || !isLive, toEnd };
}
