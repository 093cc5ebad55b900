import { useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { EntryView } from "./entries.tsx";
import type { Entry } from "./feed.ts";
import type { ConversationProps } from "./long-conversation.tsx";

const LongConversation = lazy(async () => ({ default: (await import("./long-conversation.tsx")).LongConversation }));

/** Above this number, only the visible entries are in the document. Below it, the browser's own search finds everything. */
const MAX_PLAIN = 250;

export function Conversation({ entries }: { readonly entries: readonly Entry[] }) {
  const target = useLocation({ select: ({ hash }) => hash });
  return entries.length > MAX_PLAIN ? (
    <Suspense>
      <LongConversation entries={entries} target={target} />
    </Suspense>
  ) : (
    <ShortConversation entries={entries} target={target} />
  );
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
