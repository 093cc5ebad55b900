import { useMutation } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { Confirm } from "../ui/dialog.tsx";

interface CancelDialogProps {
  readonly runId: string;
  readonly force: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** Asks before a run is cancelled. */
export function CancelDialog({ runId, force, onClose, onChanged }: CancelDialogProps) {
  const cancel = useMutation({
    mutationFn: () => client.runs.cancel(runId, force ? { force: true } : {}),
    onSuccess: () => {
      onClose();
      onChanged();
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={force ? "Force cancel this run?" : "Cancel this run?"}
      text={
        force
          ? "The run is cancelled in any state, and its key becomes invalid immediately. Work since the last checkpoint is lost."
          : "The agent's processes are stopped. A follow-up can continue the run later."
      }
      action={force ? "Force cancel" : "Cancel the run"}
      busy={cancel.isPending}
      error={cancel.error === null ? undefined : describeError(cancel.error).text}
      onConfirm={() => cancel.mutate()}
    />
  );
}
