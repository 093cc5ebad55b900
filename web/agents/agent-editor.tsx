import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { IdentityItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { EnvironmentField, ModelField } from "../ui/choice-fields.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
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
      await refreshQueries({ queryKey: ["identities"] });
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
        <div className="field-row">
          <ModelField value={draft.base_model} onChange={(base_model) => change({ base_model })} />
          <EnvironmentField value={draft.environment_id} onChange={(environment_id) => change({ environment_id })} />
        </div>
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
