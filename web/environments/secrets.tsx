import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { useMe } from "../api/session.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Empty, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { secretsQuery } from "./environment-queries.ts";
import { SecretEditor } from "./secret-editor.tsx";

/** The secrets of the teams that the person administers. */
export function Secrets() {
  const teams = useMe().teams.filter(({ role }) => role === "admin");
  if (teams.length === 0) {
    return (
      <section className="card" aria-label="Secrets">
        <div className="card-head">
          <h2>Secrets</h2>
        </div>
        <p className="card-body faint">Admins of a team set its secrets. Environments refer to them by name.</p>
      </section>
    );
  }
  return teams.map(({ uid, name }) => (
    <TeamSecrets key={uid} teamUid={uid} title={teams.length === 1 ? "Secrets" : `Secrets of ${revealHidden(name)}`} />
  ));
}

/** The secrets of a team by name. Values are never shown. */
function TeamSecrets({ teamUid, title }: { readonly teamUid: string; readonly title: string }) {
  const secrets = secretsQuery(teamUid);
  const query = useQuery(secrets);
  const [setting, setSetting] = useState<{ readonly replaced?: string }>();
  const [deleting, setDeleting] = useState<string>();
  const remove = useMutation({
    mutationFn: (name: string) => client.secrets.delete(name, { team: teamUid }),
    onSuccess: async () => {
      setDeleting(undefined);
      await refreshQueries({ queryKey: secrets.queryKey });
    },
  });
  const close = () => {
    setDeleting(undefined);
    remove.reset();
  };
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <Button small icon={<Plus size={14} aria-hidden />} onClick={() => setSetting({})}>
          New secret
        </Button>
      </div>
      <Loaded query={query} rows={2}>
        {(items) =>
          items.length === 0 ? (
            <Empty icon={<KeyRound size={26} aria-hidden />} title="No secrets">
              <p>A secret gives runs a token or a password that no page, log or response shows.</p>
            </Empty>
          ) : (
            <ul className="item-list">
              {items.map(({ name, created_at }) => (
                <li key={name} className="item item-short">
                  <div className="item-main">
                    <code className="item-title mono">{name}</code>
                  </div>
                  <span className="faint">
                    Set <Time at={created_at} />
                  </span>
                  <div className="item-actions">
                    <IconButton label={`Replace ${name}`} onClick={() => setSetting({ replaced: name })}>
                      <RefreshCw size={15} aria-hidden />
                    </IconButton>
                    <IconButton label={`Delete ${name}`} onClick={() => setDeleting(name)}>
                      <Trash2 size={15} aria-hidden />
                    </IconButton>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {setting !== undefined && (
        <SecretEditor
          teamUid={teamUid}
          names={query.data?.map(({ name }) => name) ?? []}
          {...setting}
          onClose={() => setSetting(undefined)}
        />
      )}
      <Confirm
        open={deleting !== undefined}
        onClose={close}
        title={`Delete ${deleting ?? ""}?`}
        text="Its value cannot be restored. Runs whose environment or agent names it fail until it is set again."
        action="Delete the secret"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => deleting !== undefined && remove.mutate(deleting)}
      />
    </section>
  );
}
