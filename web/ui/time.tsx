import { useSyncExternalStore } from "react";
import { formatExact, formatRelative } from "./format.ts";

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current time, updated each second. `step` limits how often the component renders. */
export function useNow(step = 1000): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / step) * step);
}

/** Sets the title of a `time` element on hover: to format an exact time takes long, and a page has many. */
export function showExact({ currentTarget }: { readonly currentTarget: HTMLTimeElement }): void {
  currentTarget.title = formatExact(currentTarget.dateTime);
}

/** A point in time in the viewer's zone. The exact time is shown on hover. */
export function Time({ at, className }: { readonly at: string; readonly className?: string }) {
  useNow(10_000);
  return (
    <time dateTime={at} onPointerEnter={showExact} className={className}>
      {formatRelative(at, Date.now())}
    </time>
  );
}
