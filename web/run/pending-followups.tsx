import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { Clock, Pencil, SendHorizontal, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { FollowupItem, RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { collect } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { isEnded } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { InlineError } from "../ui/status.tsx";

interface PendingFollowupsProps {
  readonly run: RunItem;
  readonly onChanged: () => void;
}

/** The follow-ups of a run that its agent has not taken yet. */
const pendingFollowupsQuery = (runId: string, isLive: boolean) =>
  queryOptions({
    queryKey: ["run", runId, "followups"],
    refetchInterval: isLive ? 5000 : false,
    queryFn: async ({ signal }) => {
      const followups = await collect(client.runs.listFollowups(runId, {}, { signal }));
      return followups.filter(({ state }) => state === "pending");
    },
  });

/** The follow-ups that the agent has not taken yet, which can still be changed. */
export function PendingFollowups({ run, onChanged }: PendingFollowupsProps) {
  const { data = [], refetch } = useQuery(pendingFollowupsQuery(run.run_id, !isEnded(run.state)));
  const changed = () => {
    void refetch();
    onChanged();
  };
  return data.map((followup) => (
    <PendingFollowup key={followup.followup_id} runId={run.run_id} followup={followup} onChanged={changed} />
  ));
}

interface PendingFollowupProps {
  readonly runId: string;
  readonly followup: FollowupItem;
  readonly onChanged: () => void;
}

function PendingFollowup({ runId, followup, onChanged }: PendingFollowupProps) {
  const { followup_id: id, message, attachments } = followup;
  const [draft, setDraft] = useState<string>();
  const change = useMutation({
    mutationFn: async (action: "edit" | "remove" | "promote") => {
      if (action === "edit") await client.runs.updateFollowup(runId, id, { message: draft?.trim() ?? message });
      if (action === "remove") await client.runs.deleteFollowup(runId, id);
      if (action === "promote") await client.runs.promoteFollowup(runId, id);
    },
    onSuccess: () => setDraft(undefined),
    // After a refusal the agent has the follow-up, which is then no longer pending.
    onSettled: onChanged,
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (draft?.trim() !== "") change.mutate("edit");
  };
  const busy = (action: string) => change.isPending && change.variables === action;
  const files = attachments.map(({ file_name }) => revealHidden(file_name)).join(", ");
  return (
    <article className="entry entry-text pending" data-role="user" aria-label="Pending follow-up">
      <header className="entry-head">
        <span className="entry-icon">
          <Clock size={15} aria-hidden />
        </span>
        <span className="entry-title">Pending</span>
      </header>
      <InlineError error={change.error} />
      {draft === undefined ? (
        <div className="entry-body">
          <p className="followup-text">{revealHidden(message)}</p>
          {files !== "" && <p>Attached: {files}</p>}
          <div className="followup-actions">
            <Button small icon={<Pencil size={14} aria-hidden />} onClick={() => setDraft(message)}>
              Edit
            </Button>
            <Button
              small
              busy={busy("remove")}
              icon={<Trash2 size={14} aria-hidden />}
              onClick={() => change.mutate("remove")}
            >
              Remove
            </Button>
            <Button
              small
              busy={busy("promote")}
              icon={<SendHorizontal size={14} aria-hidden />}
              onClick={() => change.mutate("promote")}
            >
              Send now
            </Button>
          </div>
        </div>
      ) : (
        <form className="entry-body" onSubmit={save}>
          <textarea
            aria-label="Message of the pending follow-up"
            rows={Math.min(8, Math.max(2, draft.split("\n").length))}
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          <div className="followup-actions">
            <Button type="submit" look="primary" small busy={busy("edit")} disabled={draft.trim() === ""}>
              Save
            </Button>
            <Button small onClick={() => setDraft(undefined)}>
              Discard
            </Button>
          </div>
        </form>
      )}
    </article>
  );
}
