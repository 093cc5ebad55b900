import "../styles/environments.css";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import * as v from "valibot";
import type { EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { errorAt } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../ui/field.tsx";
import { InlineError } from "../ui/status.tsx";
import {
  blankCommand,
  type EnvironmentDraft,
  lineError,
  NetworkMode,
  type PartProps,
  toDraft,
  toRequest,
  withoutBlankRows,
} from "./environment-draft.ts";
import { RepositoryFields } from "./repository-fields.tsx";
import { Rows } from "./rows.tsx";

interface EnvironmentEditorProps {
  /** The environment to change. Without it, a new one is made. */
  readonly environment?: EnvironmentItem;
  readonly onClose: () => void;
}

export function EnvironmentEditor({ environment, onClose }: EnvironmentEditorProps) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(() => toDraft(environment?.config));
  const change = (changes: Partial<EnvironmentDraft>) => setDraft((last) => ({ ...last, ...changes }));
  const save = useMutation({
    mutationFn: async (sent: EnvironmentDraft) => {
      const { environments } = client;
      const body = toRequest(sent);
      const { uid: environmentUid } =
        environment === undefined
          ? await environments.create({ ...body, ...(sent.isPersonal ? { team: false } : {}) })
          : await environments.update(environment.uid, body);
      await refreshQueries({ queryKey: ["environments"] });
      onClose();
      if (environment === undefined)
        await navigate({ to: "/environments/$environmentUid", params: { environmentUid } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const sent = withoutBlankRows(draft);
    setDraft(sent);
    save.mutate(sent);
  };
  const { error } = save;
  const isNew = environment === undefined;
  return (
    <Dialog open onClose={onClose} title={isNew ? "New environment" : "Edit the environment"} wide>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          value={draft.name}
          error={errorAt(error, "name")}
          onChange={(event) => change({ name: event.target.value })}
        />
        <TextField
          label="Description"
          optional
          value={draft.description}
          error={errorAt(error, "description")}
          onChange={(event) => change({ description: event.target.value })}
        />
        <RepositoryFields draft={draft} error={error} change={change} />
        <Commands draft={draft} error={error} change={change} />
        <Sandbox draft={draft} error={error} change={change} />
        <Variables draft={draft} error={error} change={change} />
        <NetworkFields draft={draft} error={error} change={change} />
        {isNew && <Personal draft={draft} change={change} />}
        <InlineError error={error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" look="primary" busy={save.isPending} disabled={draft.name.trim() === ""}>
            {isNew ? "Create the environment" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const Commands = ({ draft, error, change }: PartProps) => (
  <Rows
    title="Setup commands"
    item="command"
    hint="Executed in this order before the agent starts."
    error={errorAt(error, "setup_commands")}
    rows={draft.commands}
    max={20}
    blank={blankCommand}
    onChange={(commands) => change({ commands })}
  >
    {({ text }, index, set) => (
      <TextArea
        label={`Command ${index + 1}`}
        className="input mono short-area"
        placeholder="npm ci"
        autoCapitalize="none"
        spellCheck={false}
        rows={Math.min(8, text.split("\n").length)}
        value={text}
        error={errorAt(error, `setup_commands[${index}]`)}
        onChange={(event) => set({ text: event.target.value })}
      />
    )}
  </Rows>
);

const Sandbox = ({ draft, error, change }: PartProps) => (
  <>
    <TextArea
      label="Secrets"
      optional
      rows={2}
      className="input mono"
      placeholder="NPM_TOKEN"
      autoCapitalize="none"
      spellCheck={false}
      hint="A name in each line. Runs find the value in the environment variable of that name."
      value={draft.secrets}
      error={lineError(error, "secrets", draft.secrets)}
      onChange={(event) => change({ secrets: event.target.value })}
    />
    <div className="field-row">
      <TextField
        label="Docker image"
        optional
        placeholder="node:24"
        autoCapitalize="none"
        spellCheck={false}
        value={draft.image}
        error={errorAt(error, "docker_image")}
        onChange={(event) => change({ image: event.target.value })}
      />
      <TextField
        label="Self-hosted worker"
        optional
        placeholder="The service's own sandboxes"
        autoCapitalize="none"
        spellCheck={false}
        value={draft.worker}
        error={errorAt(error, "worker_host")}
        onChange={(event) => change({ worker: event.target.value })}
      />
    </div>
  </>
);

const Variables = ({ draft, error, change }: PartProps) => (
  <TextArea
    label="Variables"
    optional
    rows={2}
    className="input mono"
    placeholder="NODE_ENV=test"
    autoCapitalize="none"
    spellCheck={false}
    hint="NAME=value in each line. Everyone who can read the environment can read them."
    value={draft.variables}
    error={errorAt(error, "variables")}
    onChange={(event) => change({ variables: event.target.value })}
  />
);

const NetworkFields = ({ draft, error, change }: PartProps) => (
  <>
    <SelectField
      label="Network"
      value={draft.network}
      error={errorAt(error, "network.mode")}
      onChange={(event) => change({ network: v.parse(NetworkMode, event.target.value) })}
    >
      <option value="open">Everything</option>
      <option value="allowlist">Only these domains</option>
      <option value="none">Nothing</option>
    </SelectField>
    {draft.network === "allowlist" && (
      <TextArea
        label="Domains"
        rows={3}
        className="input mono"
        placeholder={"packages\nrepository\n*.example.com"}
        autoCapitalize="none"
        spellCheck={false}
        hint="One in each line: a name, *. with a name, or one of the lists packages and repository."
        value={draft.domains}
        error={lineError(error, "network.domains", draft.domains)}
        onChange={(event) => change({ domains: event.target.value })}
      />
    )}
  </>
);

function Personal({ draft, change }: Omit<PartProps, "error">) {
  const { teams } = useMe();
  if (teams.length === 0) return null;
  return (
    <CheckField
      label="Only I can see it"
      hint="Otherwise your team can see, use and change it. Personal runs have no secrets."
      checked={draft.isPersonal}
      onChange={(event) => change({ isPersonal: event.target.checked })}
    />
  );
}
