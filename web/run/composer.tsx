import { useMutation } from "@tanstack/react-query";
import { SendHorizontal, Square } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useMemo, useRef, useState } from "react";
import * as v from "valibot";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { useDraft } from "../api/use-draft.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { isEnded } from "../ui/format.ts";
import { InlineError } from "../ui/status.tsx";
import { sendFollowup } from "./send-followup.ts";

const Policy = v.picklist(["enqueue", "interrupt", "reject"]);
type Policy = v.InferOutput<typeof Policy>;

interface ComposerProps {
  readonly run: RunItem;
  readonly onSent: () => void;
}

/** Sends a follow-up: a response, a correction, or the next task. */
export function Composer({ run, onSent }: ComposerProps) {
  const draft = useDraft(`follow-up:${run.run_id}`, v.string(), "");
  const { value: message } = draft;
  const [policy, setPolicy] = useState<Policy>("enqueue");
  const area = useRef<HTMLTextAreaElement>(null);
  const ended = isEnded(run.state);
  const send = useMutation({
    mutationFn: (text: string) => sendFollowup(run, text.trim(), policy),
    onSuccess: (_sent, text) => {
      // What was written meanwhile is another follow-up.
      if (message === text) draft.drop();
      onSent();
    },
  });
  const interrupt = useMutation({ mutationFn: () => client.runs.interrupt(run.run_id), onSuccess: onSent });
  const isWaiting = run.waiting_for === "followup";
  const shortcuts = useMemo(
    () => ({
      f: (event: globalThis.KeyboardEvent) => {
        event.preventDefault();
        area.current?.focus();
      },
    }),
    [],
  );
  useShortcuts(shortcuts);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (message.trim() !== "" && !send.isPending) send.mutate(message);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  };
  const asks = run.state === "BLOCKED" && run.waiting_for === "answer";
  const denies = run.waiting_for === "approval";
  const label = denies
    ? "Deny with a message"
    : asks
      ? "Answer the question"
      : ended
        ? "Continue with a follow-up"
        : "Send a follow-up";
  return (
    <form className="composer" onSubmit={submit}>
      <InlineError error={send.error ?? interrupt.error} />
      {isWaiting && !ended && <p className="muted">The agent waits for a follow-up.</p>}
      <div className="composer-box">
        <textarea
          ref={area}
          aria-label={label}
          placeholder={`${label} …`}
          rows={Math.min(8, Math.max(1, message.split("\n").length))}
          value={message}
          onChange={(event) => draft.change(event.target.value)}
          onKeyDown={onKey}
        />
        <div className="composer-tools">
          {!ended && (
            <select
              aria-label="When the agent gets it"
              value={policy}
              onChange={(event) => setPolicy(v.parse(Policy, event.target.value))}
            >
              <option value="enqueue">After the current turn</option>
              <option value="interrupt">Interrupt the turn</option>
              <option value="reject">Only if idle</option>
            </select>
          )}
          {run.state === "INPROGRESS" && !isWaiting && (
            <Button
              small
              busy={interrupt.isPending}
              onClick={() => interrupt.mutate()}
              icon={<Square size={14} aria-hidden />}
            >
              Interrupt
            </Button>
          )}
          <Button
            type="submit"
            look="primary"
            small
            busy={send.isPending}
            disabled={message.trim() === ""}
            icon={<SendHorizontal size={14} aria-hidden />}
          >
            {denies ? "Deny" : asks ? "Answer" : "Send"}
          </Button>
        </div>
      </div>
    </form>
  );
}
