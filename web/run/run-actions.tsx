import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ban, Download, MoreHorizontal, Repeat2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { Button } from "../ui/button.tsx";
import { isEnded } from "../ui/format.ts";
import { openDownload } from "./download.ts";

const Confirm = lazy(async () => ({ default: (await import("../ui/dialog.tsx")).Confirm }));

interface RunActionsProps {
  readonly run: RunItem;
  readonly onChanged: () => void;
}

/** The actions of a run: cancel it, also by force, start it again, and download its transcript. */
export function RunActions({ run, onChanged }: RunActionsProps) {
  const navigate = useNavigate();
  const [confirming, setConfirming] = useState<"cancel" | "force">();
  const cancel = useMutation({
    mutationFn: (force: boolean) => client.runs.cancel(run.run_id, force ? { force: true } : {}),
    onSuccess: () => {
      setConfirming(undefined);
      onChanged();
    },
  });
  const transcript = useMutation({
    mutationFn: async () => openDownload((await client.runs.transcript(run.run_id)).download_url),
  });
  const isActive = !isEnded(run.state);
  // Other runs are refused unless they are cancelled by force.
  const needsForce = run.is_run_type_cancellable === false || run.state === "PENDING" || run.state === "CLAIMED";
  return (
    <div className="page-actions">
      {isActive && !needsForce && (
        <Button look="danger" icon={<Ban size={15} aria-hidden />} onClick={() => setConfirming("cancel")}>
          Cancel
        </Button>
      )}
      {isActive && (
        <Button
          look={needsForce ? "danger" : "ghost"}
          icon={needsForce ? <Ban size={15} aria-hidden /> : <MoreHorizontal size={15} aria-hidden />}
          onClick={() => setConfirming("force")}
        >
          Force cancel
        </Button>
      )}
      <Button
        icon={<Repeat2 size={15} aria-hidden />}
        onClick={() => void navigate({ to: "/runs/new", search: { from: run.run_id } })}
      >
        Run again
      </Button>
      <Button busy={transcript.isPending} icon={<Download size={15} aria-hidden />} onClick={() => transcript.mutate()}>
        Transcript
      </Button>
      {transcript.error !== null && (
        <p className="form-error" role="alert">
          {describeError(transcript.error).text}
        </p>
      )}
      <Suspense>
        {confirming !== undefined && (
          <Confirm
            open
            onClose={() => setConfirming(undefined)}
            title={confirming === "force" ? "Force cancel this run?" : "Cancel this run?"}
            text={
              confirming === "force"
                ? "The run is cancelled in any state, and its key becomes invalid immediately. Work since the last checkpoint is lost."
                : "The agent's processes are stopped. A follow-up can continue the run later."
            }
            action={confirming === "force" ? "Force cancel" : "Cancel the run"}
            busy={cancel.isPending}
            error={cancel.error === null ? undefined : describeError(cancel.error).text}
            onConfirm={() => cancel.mutate(confirming === "force")}
          />
        )}
      </Suspense>
    </div>
  );
}
