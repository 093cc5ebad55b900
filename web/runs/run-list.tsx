import { useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer, windowScroll } from "@tanstack/react-virtual";
import { ChevronRight } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { type FoldedRow, foldRuns } from "./fold-runs.ts";
import { RunRow } from "./run-row.tsx";
import { titleOf } from "./title-of.ts";

const ROW_HEIGHT = 62;
/** Rows before the end at which the next page is requested. */
const AHEAD = 30;

interface RunListProps {
  readonly runs: readonly RunItem[];
  /** Whether repeats of one schedule are folded. */
  readonly isFolded: boolean;
  /** The ids of the selected runs, while runs are being selected. */
  readonly selection: ReadonlySet<string> | undefined;
  readonly onSelect: (runIds: readonly string[], isSelected: boolean) => void;
  readonly hasMore: boolean;
  /** No more runs are requested, because the last request failed. */
  readonly isStopped: boolean;
  readonly onMore: () => void;
}

/** The list, of which only the visible rows are in the document. */
export function RunList({ runs, isFolded, selection, onSelect, hasMore, isStopped, onMore }: RunListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  const isShown = useIsShown();
  // Measured when the page is shown, because a measurement before makes the browser lay the page out twice.
  useEffect(() => {
    if (isShown) setOffset(list.current?.offsetTop ?? 0);
  }, [isShown]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const folded = useMemo(
    () => (isFolded ? foldRuns(runs, open) : runs.map((run): FoldedRow => ({ run, repeats: 0 }))),
    [runs, open, isFolded],
  );
  const toggle = (group: string) =>
    setOpen((last) =>
      last.has(group) ? new Set([...last].filter((one) => one !== group)) : new Set([...last, group]),
    );
  const virtual = useWindowVirtualizer({
    count: folded.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: isShown ? 12 : 0,
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: offset,
    scrollToFn: scrollOnRequest,
    getItemKey: (index) => folded[index]?.run.run_id ?? index,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isStopped && last >= folded.length - AHEAD) onMore();
  }, [hasMore, isStopped, last, folded.length, onMore]);
  const scrollTo = useCallback((index: number) => virtual.scrollToIndex(index, { align: "auto" }), [virtual]);
  const current = useCurrentRow(folded, scrollTo, selection === undefined ? undefined : onSelect, selection);
  return (
    <ul
      className={selection === undefined ? "run-list" : "run-list selecting"}
      ref={list}
      style={{ height: virtual.getTotalSize() }}
      aria-label="Runs"
    >
      {rows.map(({ index, key, start }) => {
        const row = folded[index];
        return row === undefined ? null : (
          <li
            key={key}
            className="run-item"
            aria-posinset={index + 1}
            aria-setsize={hasMore ? -1 : folded.length}
            style={{ height: ROW_HEIGHT, transform: `translateY(${start - offset}px)` }}
          >
            {selection !== undefined && (
              <input
                type="checkbox"
                className="run-check"
                aria-label={`Select ${titleOf(row.run)}`}
                checked={selection.has(row.run.run_id)}
                onChange={(event) => onSelect([row.run.run_id], event.target.checked)}
              />
            )}
            <RunRow run={row.run} isSelected={row.run.run_id === current} />
            {row.group !== undefined && <Repeats {...row} isOpen={open.has(row.group)} onToggle={toggle} />}
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

interface RepeatsProps extends Pick<FoldedRow, "group" | "repeats"> {
  readonly isOpen: boolean;
  readonly onToggle: (group: string) => void;
}

/** Shows or hides the earlier runs that a row stands for. */
const Repeats = ({ group = "", repeats, isOpen, onToggle }: RepeatsProps) => (
  <button type="button" className="run-repeats" aria-expanded={isOpen} onClick={() => onToggle(group)}>
    <ChevronRight size={14} aria-hidden />
    <span>{repeats} more</span>
    <span className="visually-hidden"> of this schedule on this day</span>
  </button>
);

/**
 * Moves the focus by j and k; Enter opens the run, and x selects it while runs are being selected. The current row stays with its run
 * when rows move.
 */
function useCurrentRow(
  rows: readonly FoldedRow[],
  scrollTo: (index: number) => void,
  onSelect: RunListProps["onSelect"] | undefined,
  selection: RunListProps["selection"],
): string | undefined {
  const [current, setCurrent] = useState<string>();
  const navigate = useNavigate();
  useEffect(() => {
    if (current === undefined) return;
    // The row may appear only after the list has scrolled to it.
    const focus = () => document.querySelector<HTMLElement>(".run-row[data-selected]")?.focus({ preventScroll: true });
    focus();
    const frame = requestAnimationFrame(() => requestAnimationFrame(focus));
    return () => cancelAnimationFrame(frame);
  }, [current]);
  const shortcuts = useMemo(() => {
    const move = (by: number) => {
      const index = rows.findIndex(({ run }) => run.run_id === current);
      const next = Math.max(0, Math.min(rows.length - 1, index + by));
      setCurrent(rows[next]?.run.run_id);
      scrollTo(next);
    };
    return {
      j: () => move(1),
      k: () => move(-1),
      x: () => current !== undefined && onSelect?.([current], selection?.has(current) !== true),
      Enter: (event: KeyboardEvent) => {
        const onControl = event.target instanceof HTMLElement && event.target.closest("a, button") !== null;
        if (current !== undefined && !onControl) void navigate({ to: "/runs/$runId", params: { runId: current } });
      },
    };
  }, [rows, current, scrollTo, navigate, onSelect, selection]);
  useShortcuts(shortcuts);
  return current;
}
