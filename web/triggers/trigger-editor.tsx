import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { TriggerItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ShownSecret } from "../ui/shown-secret.tsx";
import { InlineError } from "../ui/status.tsx";
import { TEMPLATES } from "./templates.ts";
import {
  emptyDraft,
  hasPreset,
  type TriggerDraft,
  toCreateRequest,
  toDraft,
  toUpdateRequest,
} from "./trigger-draft.ts";
import { EventFields, RunFields, SenderFields } from "./trigger-fields.tsx";
import { triggersQuery } from "./trigger-queries.ts";

interface TriggerEditorProps {
  /** The trigger to change. Without it, a new one is made, and its secret is shown once. */
  readonly trigger?: TriggerItem;
  readonly onClose: () => void;
}

export function TriggerEditor({ trigger, onClose }: TriggerEditorProps) {
  const [draft, setDraft] = useState<TriggerDraft>(() => (trigger === undefined ? emptyDraft : toDraft(trigger)));
  const change = (changes: Partial<TriggerDraft>) => setDraft((last) => ({ ...last, ...changes }));
  const save = useMutation({
    mutationFn: async () => {
      if (trigger === undefined) return client.triggers.create(toCreateRequest(draft));
      await client.triggers.update(trigger.uid, toUpdateRequest(draft, trigger));
      return undefined;
    },
    onSuccess: async () => {
      await refreshQueries({ queryKey: triggersQuery.queryKey });
      if (trigger !== undefined) onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const created = save.data;
  const isComplete = draft.name.trim() !== "" && (draft.prompt.trim() !== "" || hasPreset(draft.system));
  return (
    <Dialog
      open
      onClose={onClose}
      title={trigger !== undefined ? "Edit the trigger" : created === undefined ? "New trigger" : "Copy the secret now"}
      description={
        created &&
        `It is shown this once. Give it to the other system, which sends its events to ${created.ingress_url}`
      }
      wide
    >
      {created === undefined ? (
        <form className="dialog-form" onSubmit={submit} noValidate>
          {trigger === undefined && <Templates onChoose={(template) => setDraft({ ...emptyDraft, ...template })} />}
          <SenderFields draft={draft} isNew={trigger === undefined} error={save.error} onChange={change} />
          <EventFields draft={draft} error={save.error} onChange={change} />
          <RunFields draft={draft} error={save.error} onChange={change} />
          <InlineError error={save.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Discard</Button>
            <Button type="submit" look="primary" busy={save.isPending} disabled={!isComplete}>
              {trigger === undefined ? "Create the trigger" : "Save"}
            </Button>
          </div>
        </form>
      ) : (
        <ShownSecret value={created.secret} copyLabel="Copy the secret" onClose={onClose} />
      )}
    </Dialog>
  );
}

/** Ready triggers, which fill the form. */
const Templates = ({ onChoose }: { readonly onChoose: (draft: Partial<TriggerDraft>) => void }) => (
  <fieldset className="stack">
    <legend className="legend">Start from</legend>
    <div className="row">
      {TEMPLATES.map(({ title, events, ...template }) => (
        <Button key={title} small onClick={() => onChoose({ ...template, events: events.join("\n") })}>
          {title}
        </Button>
      ))}
    </div>
  </fieldset>
);
