import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { client } from "../api/client.ts";
import { errorAt, isNotFound } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { InlineError } from "../ui/status.tsx";
import { secretsQuery } from "./environment-queries.ts";

/** Bytes of a value. A longer one is refused here, before the value that it replaces is deleted. */
const MAX_BYTES = 4096;

interface SecretEditorProps {
  readonly teamUid: string;
  /** The names that are taken. */
  readonly names: readonly string[];
  /** The secret to replace. Without it, a new one is made, or the one with the name that is written is replaced. */
  readonly replaced?: string;
  readonly onClose: () => void;
}

/** Sets the value of a secret, and asks before it replaces one. */
export function SecretEditor({ teamUid, names, replaced: given, onClose }: SecretEditorProps) {
  const [name, setName] = useState(given ?? "");
  const [value, setValue] = useState("");
  const [replaced, setReplaced] = useState(given);
  const [isDeleted, setDeleted] = useState(false);
  const isLong = new TextEncoder().encode(value).length > MAX_BYTES;
  const save = useMutation({
    mutationFn: async () => {
      const team = { team: teamUid };
      if (replaced !== undefined && !isDeleted) {
        await client.secrets.delete(replaced, team).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
        setDeleted(true);
      }
      await client.secrets.create({ name: replaced ?? name.trim(), value }, team);
      onClose();
    },
    onSettled: () => refreshQueries({ queryKey: secretsQuery(teamUid).queryKey }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isLong) return;
    if (replaced === undefined && names.includes(name.trim())) setReplaced(name.trim());
    else save.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={replaced === undefined ? "New secret" : `Replace ${replaced}?`}
      description={
        replaced === undefined
          ? "The value is not shown again."
          : "The present value cannot be restored. Executions that start from then on have the new one."
      }
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        {given === undefined && replaced !== undefined && (
          <p className="form-error" role="alert">
            There is a secret with this name.
          </p>
        )}
        {replaced === undefined && (
          <TextField
            label="Name"
            className="input mono"
            placeholder="NPM_TOKEN"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            hint="Also the name of the environment variable with the value."
            value={name}
            error={errorAt(save.error, "name")}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <TextArea
          label="Value"
          className="input mono"
          rows={3}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          value={value}
          error={isLong ? `must have at most ${MAX_BYTES} bytes` : errorAt(save.error, "value")}
          onChange={(event) => setValue(event.target.value)}
        />
        <InlineError error={save.error} />
        {save.isError && isDeleted && <p className="form-error">The former value is deleted already. Try again.</p>}
        <div className="dialog-actions">
          <Button onClick={onClose}>{replaced === undefined ? "Discard" : "Keep"}</Button>
          <Button
            type="submit"
            look={replaced === undefined ? "primary" : "danger"}
            busy={save.isPending}
            disabled={name.trim() === "" || value === ""}
          >
            {replaced === undefined ? "Create the secret" : "Replace the secret"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
