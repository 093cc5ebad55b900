import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { WEBHOOK_EVENT_TYPES, type WebhookEventType, type WebhookItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { errorAt } from "../api/problem.ts";
import { webhooksQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextField } from "../ui/field.tsx";
import { toWords } from "../ui/format.ts";
import { ShownSecret } from "../ui/shown-secret.tsx";
import { InlineError } from "../ui/status.tsx";
import { checkFilter, FilterFields, toFilter, toFilterDraft } from "./webhook-filter.tsx";

interface WebhookEditorProps {
  readonly teamUid: string;
  /** The webhook to change. Without it, a new one is made, and its signing secret is shown once. */
  readonly webhook?: WebhookItem;
  readonly onClose: () => void;
}

export function WebhookEditor({ teamUid, webhook, onClose }: WebhookEditorProps) {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [name, setName] = useState(webhook?.name ?? "");
  const [filter, setFilter] = useState(() => toFilterDraft(webhook?.filter));
  const [types, setTypes] = useState<readonly WebhookEventType[]>(webhook?.event_types ?? WEBHOOK_EVENT_TYPES);
  const [format, setFormat] = useState<"json" | "slack">(webhook?.format ?? "json");
  const save = useMutation({
    mutationFn: async (): Promise<string | undefined> => {
      // An empty list stands for all types.
      const body = {
        url: url.trim(),
        format,
        event_types: types.length === WEBHOOK_EVENT_TYPES.length ? [] : [...types],
        filter: toFilter(filter),
      };
      const newName = name.trim();
      const team = { team: teamUid };
      if (webhook === undefined) {
        return (await client.webhooks.create({ ...body, ...(newName === "" ? {} : { name: newName }) }, team)).secret;
      }
      await client.webhooks.update(webhook.uid, { ...body, name: newName }, team);
      return undefined;
    },
    onSuccess: async () => {
      await refreshQueries({ queryKey: webhooksQuery(teamUid).queryKey });
      if (webhook !== undefined) onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (checkFilter(filter) === undefined) save.mutate();
  };
  const secret = save.data;
  return (
    <Dialog
      open
      onClose={onClose}
      title={webhook !== undefined ? "Edit the webhook" : secret === undefined ? "New webhook" : "Copy the secret now"}
      description={secret && "It is shown this once. The receiver verifies with it that requests come from here."}
      wide
    >
      {secret === undefined ? (
        <form className="dialog-form" onSubmit={submit} noValidate>
          <TextField
            label="URL"
            inputMode="url"
            placeholder="https://hooks.example.com/runyard"
            autoCapitalize="none"
            spellCheck={false}
            hint={
              format === "slack"
                ? "The URL of an incoming webhook of Slack, or of a chat that accepts the same format."
                : "Receives a signed POST request for each event."
            }
            value={url}
            error={errorAt(save.error, "url")}
            onChange={(event) => setUrl(event.target.value)}
          />
          <TextField
            label="Name"
            optional
            value={name}
            error={errorAt(save.error, "name")}
            onChange={(event) => setName(event.target.value)}
          />
          <SelectField
            label="Format"
            value={format}
            onChange={(event) => setFormat(event.target.value === "slack" ? "slack" : "json")}
          >
            <option value="json">Event as JSON</option>
            <option value="slack">Message for Slack</option>
          </SelectField>
          <EventTypes types={types} onChange={setTypes} />
          <FilterFields draft={filter} error={save.error} onChange={setFilter} />
          <InlineError error={save.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Discard</Button>
            <Button
              type="submit"
              look="primary"
              busy={save.isPending}
              disabled={url.trim() === "" || types.length === 0}
            >
              {webhook === undefined ? "Create the webhook" : "Save"}
            </Button>
          </div>
        </form>
      ) : (
        <ShownSecret value={secret} copyLabel="Copy the secret" onClose={onClose} />
      )}
    </Dialog>
  );
}

interface EventTypesProps {
  readonly types: readonly WebhookEventType[];
  readonly onChange: (types: readonly WebhookEventType[]) => void;
}

const EventTypes = ({ types, onChange }: EventTypesProps) => (
  <fieldset className="stack">
    <legend className="legend">Events</legend>
    <CheckField
      label="All events"
      checked={types.length === WEBHOOK_EVENT_TYPES.length}
      onChange={(event) => onChange(event.target.checked ? WEBHOOK_EVENT_TYPES : [])}
    />
    <div className="field-row">
      {WEBHOOK_EVENT_TYPES.map((type) => (
        <CheckField
          key={type}
          label={toWords(type)}
          checked={types.includes(type)}
          onChange={({ target }) =>
            onChange(WEBHOOK_EVENT_TYPES.filter((one) => (one === type ? target.checked : types.includes(one))))
          }
        />
      ))}
    </div>
  </fieldset>
);
