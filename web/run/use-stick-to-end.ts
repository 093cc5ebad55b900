import { useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../shell/shortcuts.ts";

const NEAR = 120;
/** Frames without a change after which the end is reached, and after which it is given up. */
const STILL_FRAMES = 5;
const MAX_FRAMES = 60;

const distanceToEnd = (): number => document.documentElement.scrollHeight - scrollY - innerHeight;

/** Scrolls until the end stays where it is: entries of a long conversation get their heights when they are first visible. */
function scrollToEnd(): void {
  let still = 0;
  const step = (frame: number) => {
    const isThere = distanceToEnd() < 1;
    if (!isThere) scrollTo({ top: document.documentElement.scrollHeight });
    still = isThere ? still + 1 : 0;
    if (still < STILL_FRAMES && frame < MAX_FRAMES) requestAnimationFrame(() => step(frame + 1));
  };
  step(0);
}

/** Keeps a reader at the end of a live page at its end, and does not move other readers. */
export function useStickToEnd(content: unknown, isLive: boolean): { isAtEnd: boolean; toEnd: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const wasAtEnd = useRef(false);
  useEffect(() => {
    const onScroll = () => {
      const near = distanceToEnd() < NEAR;
      wasAtEnd.current = near && scrollY > 0;
      setAtEnd(near);
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is the reason to scroll.
  useEffect(() => {
    if (isLive && wasAtEnd.current) return scrollToEnd();
    // The height is known when the page is laid out; reading it earlier would lay it out twice.
    const frame = requestAnimationFrame(() => setAtEnd(distanceToEnd() < NEAR));
    return () => cancelAnimationFrame(frame);
  }, [content, isLive]);
  const shortcuts = useMemo(
    () => ({
      End: (event: KeyboardEvent) => {
        event.preventDefault();
        scrollToEnd();
      },
    }),
    [],
  );
  useShortcuts(shortcuts);
  return { isAtEnd: isAtEnd || !isLive, toEnd: scrollToEnd };
}
