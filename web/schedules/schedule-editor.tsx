import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { ScheduleItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { InlineError } from "../ui/status.tsx";
import { CronPreview } from "./cron-preview.tsx";
import { OverlapField } from "./overlap-field.tsx";

interface ScheduleEditorProps {
  readonly schedule: ScheduleItem;
  readonly onClose: () => void;
}

/** Changes when a schedule runs what. Its configuration stays. */
export function ScheduleEditor({ schedule, onClose }: ScheduleEditorProps) {
  const [draft, setDraft] = useState({
    name: schedule.name,
    cron_schedule: schedule.cron_schedule,
    time_zone: schedule.time_zone,
    prompt: schedule.prompt,
    overlap: schedule.overlap,
  });
  const change = (changes: Partial<typeof draft>) => setDraft((last) => ({ ...last, ...changes }));
  const save = useMutation({
    mutationFn: () => client.schedules.update(schedule.id, { ...draft, enabled: schedule.enabled }),
    onSuccess: async () => {
      await refreshQueries({ queryKey: ["schedules"] });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog open onClose={onClose} title="Edit the schedule" wide>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          value={draft.name}
          error={fieldError(save.error, "name")}
          onChange={(event) => change({ name: event.target.value })}
        />
        <div className="field-row">
          <TextField
            label="Cron expression"
            className="input mono"
            value={draft.cron_schedule}
            error={fieldError(save.error, "cron_schedule")}
            onChange={(event) => change({ cron_schedule: event.target.value })}
          />
          <TextField
            label="Time zone"
            value={draft.time_zone}
            error={fieldError(save.error, "time_zone")}
            onChange={(event) => change({ time_zone: event.target.value })}
          />
        </div>
        <CronPreview cron={draft.cron_schedule} timeZone={draft.time_zone} />
        <OverlapField value={draft.overlap} onChange={(overlap) => change({ overlap })} />
        <TextArea
          label="Prompt"
          rows={6}
          value={draft.prompt}
          error={fieldError(save.error, "prompt")}
          onChange={(event) => change({ prompt: event.target.value })}
        />
        <InlineError error={save.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" look="primary" busy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
