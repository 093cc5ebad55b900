import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { TeamItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { teamQuery } from "../api/queries.ts";
import { queryClient } from "../api/query-client.ts";
import { sessionQuery } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { InlineError, Loaded } from "../ui/status.tsx";
import { Invitations } from "./invitations.tsx";
import { Members } from "./members.tsx";

interface TeamSectionProps {
  readonly teamUid: string;
  readonly isAdmin: boolean;
  readonly me: string;
}

/** A team of the person: its limits, members and invitations. Only admins change them. */
export function TeamSection({ teamUid, isAdmin, me }: TeamSectionProps) {
  const query = useQuery({ ...teamQuery(teamUid), enabled: isAdmin });
  return (
    <>
      {isAdmin && <Loaded query={query}>{(team) => <TeamForm key={team.uid} team={team} />}</Loaded>}
      <Members teamUid={teamUid} isAdmin={isAdmin} me={me} />
      {isAdmin && <Invitations teamUid={teamUid} />}
    </>
  );
}

const LIMITS = [
  ["concurrency_limit", "Runs at the same time"],
  ["queue_limit", "Runs that wait"],
  ["identity_limit", "Agents"],
] as const;
type Limit = (typeof LIMITS)[number][0];

function TeamForm({ team }: { readonly team: TeamItem }) {
  const [name, setName] = useState(team.name);
  const [limits, setLimits] = useState<Readonly<Record<Limit, string>>>({
    concurrency_limit: String(team.settings.concurrency_limit),
    queue_limit: String(team.settings.queue_limit),
    identity_limit: String(team.settings.identity_limit),
  });
  const save = useMutation({
    mutationFn: () => {
      const settings = Object.fromEntries(
        LIMITS.map(([limit]) => [limit, limits[limit].trim() === "" ? null : Number(limits[limit])]),
      );
      return client.teams.update(team.uid, { name: name.trim(), settings });
    },
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ["teams"] }),
        queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
      ]),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <section className="card" aria-label={`Team ${team.name}`}>
      <div className="card-head">
        <h2>Team and limits</h2>
      </div>
      <form className="card-body stack" onSubmit={submit} noValidate>
        <TextField
          label="Team name"
          maxLength={256}
          value={name}
          error={fieldError(save.error, "name")}
          onChange={(event) => setName(event.target.value)}
        />
        <div className="field-row">
          {LIMITS.map(([limit, label]) => (
            <TextField
              key={limit}
              label={label}
              inputMode="numeric"
              placeholder="Default"
              value={limits[limit]}
              error={fieldError(save.error, limit)}
              onChange={(event) => setLimits((last) => ({ ...last, [limit]: event.target.value }))}
            />
          ))}
        </div>
        <InlineError error={save.error} />
        <div className="row">
          <Button type="submit" busy={save.isPending}>
            Save
          </Button>
          {save.isSuccess && (
            <span className="faint" role="status">
              Saved
            </span>
          )}
        </div>
      </form>
    </section>
  );
}
