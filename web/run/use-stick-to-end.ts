import { useEffect, useRef, useState } from "react";

const NEAR = 120;

const distanceToEnd = (): number => document.documentElement.scrollHeight - scrollY - innerHeight;

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
    // The height is known when the page is laid out; reading it earlier would lay it out twice.
    const frame = requestAnimationFrame(onScroll);
    addEventListener("scroll", onScroll, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", onScroll);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is the reason to scroll.
  useEffect(() => {
    if (isLive && wasAtEnd.current) scrollTo({ top: document.documentElement.scrollHeight });
  }, [content, isLive]);
  return {
    isAtEnd: isAtEnd || !isLive,
    toEnd: () => scrollTo({ top: document.documentElement.scrollHeight, behavior: "smooth" }),
  };
}
