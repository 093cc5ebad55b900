import { useMutation } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { TextField } from "../ui/field.tsx";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { InlineError } from "../ui/status.tsx";
import { asJson } from "./action-text.ts";
import type { Entry } from "./feed.ts";
import { memberOf, readText } from "./members.ts";

type Approval = NonNullable<RunItem["approval"]>;

interface ApprovalCardProps {
  readonly run: RunItem;
  readonly approval: Approval;
  readonly entries: readonly Entry[];
  readonly onChanged: () => void;
}

/** The call that a run waits for, whole, and the answers to it. */
export function ApprovalCard({ run, approval, entries, onChanged }: ApprovalCardProps) {
  const { approval_id: id, tool } = approval;
  const [reason, setReason] = useState("");
  const answer = useMutation({
    mutationFn: (member: "approve" | "deny") => {
      const message = reason.trim();
      return client.runs.sendFollowup(run.run_id, { [member]: id, ...(message === "" ? {} : { message }) });
    },
    // After a refusal somebody else has answered.
    onSettled: onChanged,
  });
  const busy = (member: "approve" | "deny") => answer.isPending && answer.variables === member;
  return (
    <section className="banner tone-asking stack" aria-label="Approval">
      <h2>The agent waits for your approval: {toWords(tool)}</h2>
      <CallDetails input={readInput(approval, entries)} />
      <TextField
        label="Reason"
        optional
        hint="The agent reads it. It is shown in the timeline."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <InlineError error={answer.error} />
      <div className="row">
        <Button
          look="primary"
          busy={busy("approve")}
          disabled={busy("deny")}
          icon={<Check size={15} aria-hidden />}
          onClick={() => answer.mutate("approve")}
        >
          Approve this call
        </Button>
        <Button
          look="danger"
          busy={busy("deny")}
          disabled={busy("approve")}
          icon={<X size={15} aria-hidden />}
          onClick={() => answer.mutate("deny")}
        >
          Deny
        </Button>
      </div>
    </section>
  );
}

/** The exact arguments. Where the item of the run truncates them, the conversation has them whole. */
function readInput({ action_id, arguments: text }: Approval, entries: readonly Entry[]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const action = entries.find((entry) => entry.kind === "action" && entry.id === action_id);
    return action?.kind === "action" ? action.input : text;
  }
}

/** A command as it would run, with its other arguments, or the arguments of another tool as JSON. */
function CallDetails({ input }: { readonly input: unknown }) {
  const command = readText(input, "command");
  if (command === undefined) return <Code text={revealHidden(asJson(input))} language="json" />;
  const directory = readText(input, "working_directory");
  return (
    <>
      <Code text={revealHidden(command)} language="bash" />
      {directory !== undefined && (
        <p className="faint">
          In <code>{revealHidden(directory)}</code>
        </p>
      )}
      {memberOf(input, "background") === true && <p className="faint">In the background</p>}
    </>
  );
}
