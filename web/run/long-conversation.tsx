import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { EntryView } from "./entries.tsx";
import type { Entry } from "./feed.ts";

export interface ConversationProps {
  readonly entries: readonly Entry[];
  /** The key of the entry that the address names. */
  readonly target: string;
}

/** A conversation of which only the visible entries are in the document. */
export function LongConversation({ entries, target }: ConversationProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(measureTop(list.current)), []);
  const virtual = useWindowVirtualizer({
    count: entries.length,
    estimateSize: (index) => (entries[index]?.kind === "action" ? 190 : 110),
    overscan: 6,
    scrollMargin: offset,
    getItemKey: (index) => entries[index]?.key ?? index,
  });
  const place = entries.findIndex(({ key }) => key === target);
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place, { align: "center" });
  }, [place, virtual]);
  return (
    <div className="conversation-long" ref={list} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const entry = entries[index];
        return entry === undefined ? null : (
          <div
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className="conversation-item"
            style={{ transform: `translateY(${start - offset}px)` }}
          >
            <EntryView entry={entry} isTarget={entry.key === target} />
          </div>
        );
      })}
    </div>
  );
}

const measureTop = (element: HTMLElement | null): number =>
  element === null ? 0 : element.getBoundingClientRect().top + scrollY;
