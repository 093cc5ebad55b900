import { type UseQueryResult, useMutation } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import type { CreatedKey, KeyItem } from "../../clients/typescript/src/index.ts";
import { describeError, fieldError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button, IconButton } from "./button.tsx";
import { Confirm, Dialog } from "./dialog.tsx";
import { SelectField, TextField } from "./field.tsx";
import { revealHidden } from "./hidden-characters.ts";
import { ShownSecret } from "./shown-secret.tsx";
import { Empty, InlineError, Loaded } from "./status.tsx";
import { Time } from "./time.tsx";

interface KeyListProps {
  readonly title: string;
  readonly query: UseQueryResult<KeyItem[]>;
  /** The key of the query, to read the list again after a change. */
  readonly queryKey: readonly unknown[];
  readonly create: (request: { name: string; expires_at?: string }) => Promise<CreatedKey>;
  readonly revoke: (uid: string) => Promise<unknown>;
}

/** API keys of a person or an agent. The value of a new key is shown once. */
export function KeyList({ title, query, queryKey, create, revoke }: KeyListProps) {
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<KeyItem>();
  const refresh = () => refreshQueries({ queryKey });
  const remove = useMutation({
    mutationFn: (uid: string) => revoke(uid),
    onSuccess: async () => {
      setRevoking(undefined);
      await refresh();
    },
  });
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <Button small icon={<Plus size={14} aria-hidden />} onClick={() => setCreating(true)}>
          New key
        </Button>
      </div>
      <Loaded query={query} rows={2}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty icon={<KeyRound size={26} aria-hidden />} title="No keys">
              <p>A key is how programs call the API.</p>
            </Empty>
          ) : (
            <KeyRows keys={keys} onRevoke={setRevoking} />
          )
        }
      </Loaded>
      {isCreating && (
        <NewKey
          create={create}
          onClose={() => {
            setCreating(false);
            void refresh();
          }}
        />
      )}
      <Confirm
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={`Revoke ${revoking?.name ?? ""}?`}
        text="Requests with this key are refused from then on."
        action="Revoke the key"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => revoking !== undefined && remove.mutate(revoking.uid)}
      />
    </section>
  );
}

function KeyRows({ keys, onRevoke }: { readonly keys: readonly KeyItem[]; readonly onRevoke: (key: KeyItem) => void }) {
  return (
    <ul className="item-list">
      {keys.map((key) => (
        <li key={key.uid} className="item key">
          <div className="item-main">
            <span className="item-title">{revealHidden(key.name)}</span>
            <p className="item-facts">
              <code>…{key.suffix}</code>
            </p>
          </div>
          <dl className="key-facts">
            <KeyFact name="Created" at={key.created_at}>
              {key.created_by !== undefined &&
                ` by ${revealHidden(key.created_by.display_name ?? key.created_by.email ?? "")}`}
            </KeyFact>
            <KeyFact name="Last used" at={key.last_used_at} />
            <KeyFact name="Expires" at={key.expires_at} />
          </dl>
          <IconButton label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
            <Trash2 size={15} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

interface KeyFactProps {
  readonly name: string;
  readonly at: string | undefined;
  readonly children?: ReactNode;
}

const KeyFact = ({ name, at, children }: KeyFactProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {at === undefined ? "Never" : <Time at={at} />}
      {children}
    </dd>
  </div>
);

const DAY_MS = 86_400_000;

function NewKey({ create, onClose }: { readonly create: KeyListProps["create"]; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  // The time of opening, so that a repeated request is the same one.
  const [openedAt] = useState(Date.now);
  const make = useMutation({
    mutationFn: () =>
      create({
        name: name.trim(),
        ...(days === "" ? {} : { expires_at: new Date(openedAt + Number(days) * DAY_MS).toISOString() }),
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  const key = make.data?.key;
  return (
    <Dialog
      open
      onClose={onClose}
      title={key === undefined ? "New API key" : "Copy the key now"}
      description={key && "It is shown this once. Store it where only its user can read it."}
    >
      {key === undefined ? (
        <form className="dialog-form" onSubmit={submit} noValidate>
          <TextField
            label="Name"
            placeholder="What uses it"
            value={name}
            error={fieldError(make.error, "name")}
            onChange={(event) => setName(event.target.value)}
          />
          <SelectField label="Expires" value={days} onChange={(event) => setDays(event.target.value)}>
            <option value="7">After 7 days</option>
            <option value="30">After 30 days</option>
            <option value="90">After 90 days</option>
            <option value="365">After a year</option>
            <option value="">Never</option>
          </SelectField>
          <InlineError error={make.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Discard</Button>
            <Button type="submit" look="primary" busy={make.isPending} disabled={name.trim() === ""}>
              Create the key
            </Button>
          </div>
        </form>
      ) : (
        <ShownSecret value={key} copyLabel="Copy the key" onClose={onClose} />
      )}
    </Dialog>
  );
}
