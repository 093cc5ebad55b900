import { useState } from "react";
import { fieldError } from "../api/problem.ts";
import { SelectField, TextArea, TextField } from "../ui/field.tsx";
import { checkTexts, type DraftProps, parseHarness } from "./draft.ts";

/** What few runs need: another harness, metadata, and everything else that the API takes. */
export function MoreOptions({ draft, onChange, error }: DraftProps) {
  const wrong = checkTexts(draft);
  const [isUsed] = useState(
    [draft.minutes, draft.steps, draft.metadata, draft.further].some((text) => text !== "") ||
      draft.harness !== "default",
  );
  return (
    <details className="folded more-options" open={isUsed}>
      <summary>More options</summary>
      <div className="stack">
        <SelectField
          label="Agent program"
          hint="Other programs use the model of their own provider."
          value={draft.harness}
          error={fieldError(error, "type", "harness")}
          onChange={(event) => onChange({ harness: parseHarness(event.target.value) })}
        >
          <option value="default">Runyard</option>
          <option value="claude">Claude Code</option>
          <option value="codex">Codex</option>
          <option value="gemini">Gemini CLI</option>
        </SelectField>
        <div className="field-row">
          <TextField
            label="Time limit in minutes"
            optional
            inputMode="numeric"
            placeholder="No limit"
            value={draft.minutes}
            error={wrong.minutes ?? fieldError(error, "timeout_minutes")}
            onChange={(event) => onChange({ minutes: event.target.value })}
          />
          <TextField
            label="Limit of model responses"
            optional
            inputMode="numeric"
            placeholder="No limit"
            value={draft.steps}
            error={wrong.steps ?? fieldError(error, "max_steps")}
            onChange={(event) => onChange({ steps: event.target.value })}
          />
        </div>
        <TextArea
          label="Metadata"
          optional
          rows={2}
          placeholder="ticket=SHOP-1412"
          className="input mono"
          spellCheck={false}
          hint="One name=value in each line, to find the run by."
          value={draft.metadata}
          error={wrong.metadata ?? fieldError(error, "metadata")}
          onChange={(event) => onChange({ metadata: event.target.value })}
        />
        <TextArea
          label="Further configuration as JSON"
          optional
          rows={4}
          placeholder={'{ "mcp_servers": { … }, "base_prompt": "…" }'}
          className="input mono"
          spellCheck={false}
          value={draft.further}
          error={
            wrong.further ?? fieldError(error, "mcp_servers", "base_prompt", "worker_host", "idle_timeout_minutes")
          }
          onChange={(event) => onChange({ further: event.target.value })}
        />
      </div>
    </details>
  );
}
