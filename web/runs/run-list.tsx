import { useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer, windowScroll } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { RunRow } from "./run-row.tsx";

const ROW_HEIGHT = 62;
/** Rows before the end at which the next page is requested. */
const AHEAD = 30;

interface RunListProps {
  readonly runs: readonly RunItem[];
  readonly hasMore: boolean;
  /** No more runs are requested, because the last request failed. */
  readonly isStopped: boolean;
  readonly onMore: () => void;
}

/** The list, of which only the visible rows are in the document. */
export function RunList({ runs, hasMore, isStopped, onMore }: RunListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  const isShown = useIsShown();
  // Measured when the page is shown, because a measurement before makes the browser lay the page out twice.
  useEffect(() => {
    if (isShown) setOffset(list.current?.offsetTop ?? 0);
  }, [isShown]);
  const virtual = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: isShown ? 12 : 0,
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: offset,
    scrollToFn: scrollOnRequest,
    getItemKey: (index) => runs[index]?.run_id ?? index,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isStopped && last >= runs.length - AHEAD) onMore();
  }, [hasMore, isStopped, last, runs.length, onMore]);
  const scrollTo = useCallback((index: number) => virtual.scrollToIndex(index, { align: "auto" }), [virtual]);
  const selected = useSelection(runs, scrollTo);
  return (
    <ul className="run-list" ref={list} style={{ height: virtual.getTotalSize() }} aria-label="Runs">
      {rows.map(({ index, key, start }) => {
        const run = runs[index];
        return run === undefined ? null : (
          <li
            key={key}
            className="run-item"
            aria-posinset={index + 1}
            aria-setsize={hasMore ? -1 : runs.length}
            style={{ height: ROW_HEIGHT, transform: `translateY(${start - offset}px)` }}
          >
            <RunRow run={run} isSelected={run.run_id === selected} />
          </li>
        );
      })}
    </ul>
  );
}

/** Scrolls, except to the position at which the window already is when the list appears: that alone would cost a layout. */
const scrollOnRequest: typeof windowScroll<Window> = (offset, options, virtual) => {
  if (options.behavior !== undefined || options.adjustments !== undefined) windowScroll(offset, options, virtual);
};

/** Whether the first rows are on the screen, so that there is time for those around them. */
function useIsShown(): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return isShown;
}

/** Selects runs by j and k and opens the selected one by Enter. The selection stays with its run when rows move. */
function useSelection(runs: readonly RunItem[], scrollTo: (index: number) => void): string | undefined {
  const [selected, setSelected] = useState<string>();
  const navigate = useNavigate();
  const shortcuts = useMemo(() => {
    const move = (by: number) => {
      const current = runs.findIndex(({ run_id }) => run_id === selected);
      const next = Math.max(0, Math.min(runs.length - 1, current + by));
      setSelected(runs[next]?.run_id);
      scrollTo(next);
    };
    return {
      j: () => move(1),
      k: () => move(-1),
      Enter: (event: KeyboardEvent) => {
        const onControl = event.target instanceof HTMLElement && event.target.closest("a, button") !== null;
        if (selected !== undefined && !onControl) void navigate({ to: "/runs/$runId", params: { runId: selected } });
      },
    };
  }, [runs, selected, scrollTo, navigate]);
  useShortcuts(shortcuts);
  return selected;
}
