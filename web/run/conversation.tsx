import { useLocation, useNavigate } from "@tanstack/react-router";
import { Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../shell/shortcuts.ts";
import { part } from "../ui/part.tsx";
import { SearchText } from "../ui/search-text.ts";
import type { Entry } from "./feed.ts";
import type { ConversationProps } from "./long-conversation.tsx";
import { isError } from "./outcome/outcome.ts";
import { StepView } from "./steps/step-view.tsx";
import { ALL_STEPS, filterEntries, foldReads, hasKey, nextError } from "./steps/steps.ts";

const LongConversation = part(async () => (await import("./long-conversation.tsx")).LongConversation);
/** The search of the steps, and the way to errors. */
export const StepTools = part(async () => (await import("./steps/step-tools.tsx")).StepTools);

/** Above this number, only the visible entries are in the document. Below it, the browser's own search finds everything. */
const MAX_PLAIN = 250;

export function Conversation({ entries }: { readonly entries: readonly Entry[] }) {
  const target = useLocation({ select: ({ hash }) => hash });
  const [filter, setFilter] = useState(ALL_STEPS);
  const deferredFilter = useDeferredValue(filter);
  const visibleEntries = useMemo(() => filterEntries(entries, deferredFilter), [entries, deferredFilter]);
  const steps = useMemo(
    () => (visibleEntries === entries ? foldReads(visibleEntries) : visibleEntries),
    [visibleEntries, entries],
  );
  const toNextError = useStepKeys(visibleEntries, target);
  return (
    <>
      <h2 className="visually-hidden">Conversation</h2>
      <Suspense fallback={<div className="step-tools" />}>
        <StepTools
          filter={filter}
          onFilter={setFilter}
          shown={visibleEntries.length}
          total={entries.length}
          errors={useMemo(() => entries.filter(isError).length, [entries])}
          onNextError={toNextError}
        />
      </Suspense>
      <SearchText value={deferredFilter.text}>
        {steps.length > MAX_PLAIN ? (
          <Suspense>
            <LongConversation steps={steps} target={target} />
          </Suspense>
        ) : (
          <ShortConversation steps={steps} target={target} />
        )}
      </SearchText>
    </>
  );
}

/**
 * Goes from step to step by j and k, and from error to error by e. The address names the step, as links to it do. Returns the function
 * that goes to the next error.
 */
function useStepKeys(entries: readonly Entry[], target: string): () => void {
  const navigate = useNavigate();
  // The address changes later than the key is pressed, and the next key may be faster.
  const latestTarget = useRef(target);
  useEffect(() => {
    latestTarget.current = target;
  }, [target]);
  const keys = useMemo(() => {
    const go = (next: Entry | undefined) => {
      if (next === undefined) return;
      latestTarget.current = next.key;
      void navigate({ to: ".", hash: next.key, replace: true, resetScroll: false });
    };
    const move = (by: number) => {
      const current = entries.findIndex(({ key }) => key === latestTarget.current);
      go(entries[Math.max(0, Math.min(entries.length - 1, current + by))]);
    };
    return {
      j: () => move(1),
      k: () => move(-1),
      e: () => go(nextError(entries, latestTarget.current, 1)),
      E: () => go(nextError(entries, latestTarget.current, -1)),
    };
  }, [entries, navigate]);
  useShortcuts(keys);
  return keys.e;
}

function ShortConversation({ steps, target }: ConversationProps) {
  const isThere = steps.some((step) => hasKey(step, target));
  useEffect(() => {
    if (isThere) document.getElementById(target)?.scrollIntoView({ block: "center" });
  }, [isThere, target]);
  return (
    <div className="conversation">
      {steps.map((step) => (
        <StepView key={step.key} step={step} target={target} />
      ))}
    </div>
  );
}
