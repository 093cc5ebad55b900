import { useLocation } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { EntryView } from "./entries.tsx";
import type { Entry } from "./feed.ts";

/** Above this number, only the visible entries are in the document. Below it, the browser's own search finds everything. */
const MAX_PLAIN = 250;

export function Conversation({ entries }: { readonly entries: readonly Entry[] }) {
  const target = useLocation({ select: ({ hash }) => hash });
  return entries.length > MAX_PLAIN ? (
    <LongConversation entries={entries} target={target} />
  ) : (
    <ShortConversation entries={entries} target={target} />
  );
}

interface ConversationProps {
  readonly entries: readonly Entry[];
  /** The key of the entry that the address names. */
  readonly target: string;
}

function ShortConversation({ entries, target }: ConversationProps) {
  const isThere = entries.some(({ key }) => key === target);
  useEffect(() => {
    if (isThere) document.getElementById(target)?.scrollIntoView({ block: "center" });
  }, [isThere, target]);
  return (
    <div className="conversation">
      {entries.map((entry) => (
        <EntryView key={entry.key} entry={entry} isTarget={entry.key === target} />
      ))}
    </div>
  );
}

function LongConversation({ entries, target }: ConversationProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(topOf(list.current)), []);
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

const topOf = (element: HTMLElement | null): number =>
  element === null ? 0 : element.getBoundingClientRect().top + scrollY;
