import { useMutation } from "@tanstack/react-query";
import { Archive, ArchiveRestore, Ban, Repeat2, Trash2, X } from "lucide-react";
import { useState } from "react";
import type { RunItem, RunsListParams } from "../../../clients/typescript/src/index.ts";
import { describeError } from "../../api/problem.ts";
import { refreshQueries } from "../../api/query-client.ts";
import { resetInbox } from "../../inbox/use-inbox.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { formatCount, plural } from "../../ui/format.ts";
import { InlineError } from "../../ui/status.tsx";
import { type BulkAction, type BulkResult, changeEach, changeMatching } from "./change-runs.ts";

interface BulkBarProps {
  readonly params: RunsListParams;
  /** The runs that are loaded. */
  readonly runs: readonly RunItem[];
  readonly hasMore: boolean;
  readonly selection: ReadonlySet<string>;
  readonly onSelection: (selection: ReadonlySet<string> | undefined) => void;
  readonly onChanged: () => void;
}

/** Limit of the runs that are started again together. */
const MAX_AGAIN = 20;

const ACTIONS = [
  { action: "cancel", label: "Cancel", done: "cancelled", Icon: Ban },
  { action: "archive", label: "Archive", done: "archived", Icon: Archive },
  { action: "unarchive", label: "Unarchive", done: "returned to the list", Icon: ArchiveRestore },
  { action: "again", label: "Run again", done: "started again", Icon: Repeat2 },
  { action: "delete", label: "Delete", done: "deleted", Icon: Trash2 },
] as const;

const WARNINGS: Readonly<Partial<Record<BulkAction, string>>> = {
  delete:
    "The runs that have ended are deleted with those below them, their conversations, transcripts and artifacts. This cannot be undone.",
  cancel: "Those that are active stop. What they have done so far is kept.",
  again: "Each is started with the same prompt and configuration, without attachments.",
};

/** Selects runs of the list, or all that match, and changes them. */
export function BulkBar({ params, runs, hasMore, selection, onSelection, onChanged }: BulkBarProps) {
  const [isAll, setAll] = useState(false);
  const [pendingAction, setPendingAction] = useState<BulkAction>();
  const [done, setDone] = useState(0);
  const selected = runs.filter(({ run_id }) => selection.has(run_id));
  const change = useMutation({
    mutationFn: (action: BulkAction): Promise<BulkResult> => {
      setDone(0);
      return isAll && action !== "again"
        ? changeMatching(action, params, setDone)
        : changeEach(action, selected, setDone);
    },
    onSettled: async () => {
      setPendingAction(undefined);
      setAll(false);
      onSelection(new Set());
      onChanged();
      await Promise.all([refreshQueries({ queryKey: ["runs"] }), resetInbox()]);
    },
  });
  const isEverything = selected.length === runs.length && runs.length > 0;
  const count = isAll ? "All matching runs" : plural(selected.length, "run");
  const isPossible = (action: BulkAction) =>
    action === "again" ? !isAll && selected.length > 0 && selected.length <= MAX_AGAIN : isAll || selected.length > 0;
  return (
    <section className="bulk-bar" aria-label="Selected runs">
      <label className="check-field">
        <input
          type="checkbox"
          checked={isEverything}
          onChange={() => {
            setAll(false);
            onSelection(new Set(isEverything ? [] : runs.map(({ run_id }) => run_id)));
          }}
        />
        <span>{isAll ? "All matching runs are selected" : `${formatCount(selected.length)} selected`}</span>
      </label>
      {isEverything && hasMore && !isAll && (
        <button type="button" className="link-button" onClick={() => setAll(true)}>
          Select all matching runs
        </button>
      )}
      <div className="bulk-actions">
        {ACTIONS.map(({ action, label, Icon }) => (
          <Button
            key={action}
            small
            icon={<Icon size={14} aria-hidden />}
            look={action === "delete" ? "danger" : "plain"}
            busy={change.isPending && change.variables === action}
            disabled={!isPossible(action)}
            title={action === "again" ? `Up to ${MAX_AGAIN} selected runs` : undefined}
            onClick={() => (action in WARNINGS ? setPendingAction(action) : change.mutate(action))}
          >
            {label}
          </Button>
        ))}
        <IconButton label="Stop selecting" onClick={() => onSelection(undefined)}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      <p role="status" className="bulk-status">
        {change.isPending && `${formatCount(done)} done …`}
        {change.data !== undefined && describeResult(change.variables, change.data)}
      </p>
      <InlineError error={change.error} />
      {pendingAction !== undefined && (
        <Confirm
          open
          onClose={() => setPendingAction(undefined)}
          title={`${labelOf(pendingAction)}: ${count}?`}
          text={WARNINGS[pendingAction] ?? ""}
          action={labelOf(pendingAction)}
          busy={change.isPending}
          error={change.error === null ? undefined : describeError(change.error).text}
          onConfirm={() => change.mutate(pendingAction)}
        />
      )}
    </section>
  );
}

const labelOf = (action: BulkAction): string => ACTIONS.find((one) => one.action === action)?.label ?? action;

/** "12 runs archived. 2 were not: it is not yours to change." */
function describeResult(action: BulkAction | undefined, { changed, refused }: BulkResult): string {
  const done = ACTIONS.find((one) => one.action === action)?.done ?? "changed";
  const reasons = [...refused].map(([reason, count]) => `${formatCount(count)} not: ${reason}`);
  return [`${plural(changed, "run")} ${done}`, ...reasons].map((text) => text.replace(/\.?$/, ".")).join(" ");
}
