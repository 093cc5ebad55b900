import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { DropdownMenu } from "radix-ui";
import { type ReactElement, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { useMe } from "../api/session.ts";
import { Confirm } from "../ui/dialog.tsx";
import { isEnded } from "../ui/format.ts";

interface RunMenuProps {
  readonly run: RunItem;
  readonly onChanged: () => void;
  readonly trigger: ReactElement;
  /** Absent where the run has ended, or has a button of its own for it. */
  readonly onForceCancel: (() => void) | undefined;
}

type Question = "share" | "delete";

/** The rarer actions of a run: archive it, share it with everybody who has the link, and delete it. */
export function RunMenu({ run, onChanged, trigger, onForceCancel }: RunMenuProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question>();
  const mayDelete = useMayDelete(run);
  const isShared = run.agent_config?.session_sharing?.public_access !== undefined;
  const onSuccess = () => {
    setQuestion(undefined);
    onChanged();
  };
  const archive = useMutation({
    mutationFn: () => (run.archived === true ? client.runs.unarchive(run.run_id) : client.runs.archive(run.run_id)),
    onSuccess,
  });
  const share = useMutation({
    mutationFn: () => client.runs.share(run.run_id, { public_access: isShared ? null : "VIEWER" }),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: () => client.runs.delete(run.run_id),
    onSuccess: async () => {
      setQuestion(undefined);
      await navigate({ to: "/runs", search: {} });
      void queries.invalidateQueries();
    },
  });
  const failed = archive.error ?? (question === undefined ? share.error : null);
  const asked = question === "delete" ? remove : share;
  return (
    <>
      <DropdownMenu.Root modal={false} defaultOpen>
        <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6} collisionPadding={8}>
          <DropdownMenu.Item className="menu-item" onSelect={() => archive.mutate()}>
            {run.archived === true ? "Return to the list" : "Archive"}
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={() => (isShared ? share.mutate() : setQuestion("share"))}>
            {isShared ? "Stop sharing" : "Share publicly"}
          </DropdownMenu.Item>
          {onForceCancel !== undefined && (
            <DropdownMenu.Item className="menu-item danger" onSelect={onForceCancel}>
              Force cancel
            </DropdownMenu.Item>
          )}
          {mayDelete && (
            <DropdownMenu.Item
              className="menu-item danger"
              disabled={!isEnded(run.state)}
              onSelect={() => setQuestion("delete")}
            >
              Delete
            </DropdownMenu.Item>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {failed !== null && (
        <p className="form-error" role="alert">
          {describeError(failed).text}
        </p>
      )}
      {question !== undefined && (
        <Confirm
          open
          onClose={() => setQuestion(undefined)}
          {...QUESTIONS[question]}
          busy={asked.isPending}
          error={asked.error === null ? undefined : describeError(asked.error).text}
          onConfirm={() => asked.mutate()}
        />
      )}
    </>
  );
}

const QUESTIONS = {
  share: {
    title: "Share this run publicly?",
    text: "Everybody who has the link sees its conversation and its artifacts, without an account.",
    action: "Share the run",
  },
  delete: {
    title: "Delete this run?",
    text: "The run and the runs below it are deleted, with their conversations, transcripts and artifacts. This cannot be undone.",
    action: "Delete the run",
  },
} as const;

/** Whether the viewer created the run, or is an admin of its team. */
function useMayDelete({ creator, scope }: RunItem): boolean {
  const { uid, teams } = useMe();
  return creator?.uid === uid || teams.some((team) => team.uid === scope?.uid && team.role === "admin");
}
