import { type UseQueryResult, useMutation } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { CreatedKey, CreateKeyRequest, KeyItem } from "../../clients/typescript/src/index.ts";
import { describeError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { personName } from "../ui/person-name.ts";
import { Empty, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { NewKey } from "./new-key.tsx";
import { describeScopes } from "./scope-field.tsx";

interface KeyListProps {
  readonly title: string;
  readonly query: UseQueryResult<KeyItem[]>;
  /** The key of the query, to read the list again after a change. */
  readonly queryKey: readonly unknown[];
  readonly create: (request: CreateKeyRequest) => Promise<CreatedKey>;
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
              {describeLimits(key).map((text) => (
                <span key={text}>{text}</span>
              ))}
            </p>
          </div>
          <dl className="key-facts">
            <KeyFact name="Created" at={key.created_at}>
              {key.created_by !== undefined && ` by ${personName(key.created_by)}`}
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

function describeLimits({ scopes, max_budget_usd, max_runs_per_day }: KeyItem): string[] {
  return [
    describeScopes(scopes),
    ...(max_budget_usd === undefined ? [] : [`${formatUsd(max_budget_usd)} a month`]),
    ...(max_runs_per_day === undefined ? [] : [`${max_runs_per_day} runs a day`]),
  ];
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
