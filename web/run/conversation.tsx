import { useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef } from "react";
import { useShortcuts } from "../shell/shortcuts.ts";
import { EntryView } from "./entries.tsx";
import type { Entry } from "./feed.ts";
import type { ConversationProps } from "./long-conversation.tsx";

const LongConversation = lazy(async () => ({ default: (await import("./long-conversation.tsx")).LongConversation }));

/** Above this number, only the visible entries are in the document. Below it, the browser's own search finds everything. */
const MAX_PLAIN = 250;

export function Conversation({ entries }: { readonly entries: readonly Entry[] }) {
  const target = useLocation({ select: ({ hash }) => hash });
  useStepKeys(entries, target);
  return entries.length > MAX_PLAIN ? (
    <Suspense>
      <LongConversation entries={entries} target={target} />
    </Suspense>
  ) : (
    <ShortConversation entries={entries} target={target} />
  );
}

/** Goes from step to step by j and k. The address names the step, as links to it do. */
function useStepKeys(entries: readonly Entry[], target: string): void {
  const navigate = useNavigate();
  // The address changes later than the key is pressed, and the next key may be faster.
  const wanted = useRef(target);
  useEffect(() => {
    wanted.current = target;
  }, [target]);
  const shortcuts = useMemo(() => {
    const move = (by: number) => {
      const current = entries.findIndex(({ key }) => key === wanted.current);
      const next = entries[Math.max(0, Math.min(entries.length - 1, current + by))];
      if (next === undefined) return;
      wanted.current = next.key;
      void navigate({ to: ".", hash: next.key, replace: true, resetScroll: false });
    };
    return { j: () => move(1), k: () => move(-1) };
  }, [entries, navigate]);
  useShortcuts(shortcuts);
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
