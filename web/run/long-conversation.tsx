import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { StepView } from "./steps/step-view.tsx";
import { hasKey, type Step } from "./steps/steps.ts";

export interface ConversationProps {
  readonly steps: readonly Step[];
  /** The key of the entry that the address names. */
  readonly target: string;
}

/** A conversation of which only the visible entries are in the document. */
export function LongConversation({ steps, target }: ConversationProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(measureTop(list.current)), []);
  const virtual = useWindowVirtualizer({
    count: steps.length,
    estimateSize: (index) => (steps[index]?.kind === "action" ? 190 : 110),
    overscan: 6,
    scrollMargin: offset,
    getItemKey: (index) => steps[index]?.key ?? index,
  });
  const place = steps.findIndex((step) => hasKey(step, target));
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place, { align: "center" });
  }, [place, virtual]);
  return (
    <div className="conversation-long" ref={list} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const step = steps[index];
        return step === undefined ? null : (
          <div
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className="conversation-item"
            style={{ transform: `translateY(${start - offset}px)` }}
          >
            <StepView step={step} target={target} />
          </div>
        );
      })}
    </div>
  );
}

const measureTop = (element: HTMLElement | null): number =>
  element === null ? 0 : element.getBoundingClientRect().top + scrollY;
