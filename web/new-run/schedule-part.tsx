import { fieldError } from "../api/problem.ts";
import { CronPreview } from "../schedules/cron-preview.tsx";
import { OverlapField } from "../schedules/overlap-field.tsx";
import { TextField } from "../ui/field.tsx";
import type { DraftProps } from "./draft.ts";

/** The name and the times of a schedule. */
export const SchedulePart = ({ draft, onChange, error }: DraftProps) => (
  <>
    <div className="field-row">
      <TextField
        label="Name of the schedule"
        maxLength={256}
        value={draft.scheduleName}
        error={fieldError(error, "name")}
        onChange={(event) => onChange({ scheduleName: event.target.value })}
      />
      <TextField
        label="Cron expression"
        className="input mono"
        value={draft.cron}
        error={fieldError(error, "cron_schedule")}
        onChange={(event) => onChange({ cron: event.target.value })}
      />
      <TextField
        label="Time zone"
        value={draft.timeZone}
        error={fieldError(error, "time_zone")}
        onChange={(event) => onChange({ timeZone: event.target.value })}
      />
    </div>
    <CronPreview cron={draft.cron} timeZone={draft.timeZone} />
    <OverlapField value={draft.overlap} onChange={(overlap) => onChange({ overlap })} />
  </>
);
