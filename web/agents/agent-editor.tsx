import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { IdentityItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { environmentsQuery, modelsQuery } from "../api/queries.ts";
import { queryClient } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextArea, TextField } from "../ui/field.tsx";
import { InlineError } from "../ui/status.tsx";

interface AgentEditorProps {
  /** The agent to change. Without it, a new one is made. */
  readonly agent?: IdentityItem;
  readonly onClose: () => void;
}

export function AgentEditor({ agent, onClose }: AgentEditorProps) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState({
    name: agent?.name ?? "",
    description: agent?.description ?? "",
    prompt: agent?.prompt ?? "",
    base_model: agent?.base_model ?? "",
    environment_id: agent?.environment_id ?? "",
  });
  const change = (changes: Partial<typeof draft>) => setDraft((last) => ({ ...last, ...changes }));
  const save = useMutation({
    mutationFn: async () => {
      // An empty value clears the default of an agent that exists.
      const saved =
        agent === undefined ? await client.identities.create(draft) : await client.identities.update(agent.uid, draft);
      await queryClient.invalidateQueries({ queryKey: ["identities"] });
      onClose();
      if (agent === undefined) await navigate({ to: "/agents/$agentUid", params: { agentUid: saved.uid } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={agent === undefined ? "New agent" : "Edit the agent"} wide>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          maxLength={128}
          value={draft.name}
          error={fieldError(save.error, "name")}
          onChange={(event) => change({ name: event.target.value })}
        />
        <TextField
          label="Description"
          optional
          value={draft.description}
          onChange={(event) => change({ description: event.target.value })}
        />
        <Defaults draft={draft} onChange={change} />
        <TextArea
          label="Instructions"
          optional
          hint="Added to the prompt of each run."
          rows={4}
          value={draft.prompt}
          error={fieldError(save.error, "prompt")}
          onChange={(event) => change({ prompt: event.target.value })}
        />
        <InlineError error={save.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" look="primary" busy={save.isPending} disabled={draft.name.trim() === ""}>
            {agent === undefined ? "Create the agent" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface DefaultsProps {
  readonly draft: { readonly base_model: string; readonly environment_id: string };
  readonly onChange: (changes: { base_model?: string; environment_id?: string }) => void;
}

function Defaults({ draft, onChange }: DefaultsProps) {
  const models = useQuery(modelsQuery).data?.models ?? [];
  const environments = useQuery(environmentsQuery).data ?? [];
  return (
    <div className="field-row">
      <SelectField
        label="Model"
        value={draft.base_model}
        onChange={(event) => onChange({ base_model: event.target.value })}
      >
        <option value="">Default</option>
        {models.map(({ id, display_name }) => (
          <option key={id} value={id}>
            {display_name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Environment"
        value={draft.environment_id}
        onChange={(event) => onChange({ environment_id: event.target.value })}
      >
        <option value="">Default</option>
        {environments.map(({ uid, config }) => (
          <option key={uid} value={uid}>
            {config.name}
          </option>
        ))}
      </SelectField>
    </div>
  );
}
