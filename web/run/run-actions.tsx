import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ban, Download, MoreHorizontal, Repeat2 } from "lucide-react";
import { type ComponentProps, Suspense, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { Button } from "../ui/button.tsx";
import { isEnded } from "../ui/format.ts";
import { OpenOnUse } from "../ui/open-on-use.tsx";
import { part } from "../ui/part.tsx";
import { openDownload } from "./download.ts";

const CancelDialog = part(async () => (await import("./cancel-dialog.tsx")).CancelDialog);

const RunMenu = part(async () => (await import("./run-menu.tsx")).RunMenu);

const MenuButton = (props: ComponentProps<typeof Button>) => (
  <Button {...props} className="more-button" icon={<MoreHorizontal size={15} aria-hidden />}>
    More
  </Button>
);

interface RunActionsProps {
  readonly run: RunItem;
  readonly onChanged: () => void;
}

/** The actions of a run: cancel it, also by force, start it again, download its transcript, and those of its menu. */
export function RunActions({ run, onChanged }: RunActionsProps) {
  const navigate = useNavigate();
  const [confirming, setConfirming] = useState<"cancel" | "force">();
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
      {isActive && needsForce && (
        <Button look="danger" icon={<Ban size={15} aria-hidden />} onClick={() => setConfirming("force")}>
          Force cancel
        </Button>
      )}
      <Button
        icon={<Repeat2 size={15} aria-hidden />}
        onClick={() => void navigate({ to: "/runs/new", search: { from: run.run_id } })}
      >
        Run again
      </Button>
      <Button
        className="transcript-button"
        busy={transcript.isPending}
        icon={<Download size={15} aria-hidden />}
        onClick={() => transcript.mutate()}
      >
        Transcript
      </Button>
      <OpenOnUse trigger={(open) => <MenuButton aria-haspopup="menu" onClick={open} />}>
        <RunMenu
          run={run}
          onChanged={onChanged}
          trigger={<MenuButton />}
          onForceCancel={isActive && !needsForce ? () => setConfirming("force") : undefined}
        />
      </OpenOnUse>
      {transcript.error !== null && (
        <p className="form-error" role="alert">
          {describeError(transcript.error).text}
        </p>
      )}
      <Suspense>
        {confirming !== undefined && (
          <CancelDialog
            runId={run.run_id}
            force={confirming === "force"}
            onClose={() => setConfirming(undefined)}
            onChanged={onChanged}
          />
        )}
      </Suspense>
    </div>
  );
}
