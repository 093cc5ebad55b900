import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { TeamDetail } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { teamQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { sessionQuery } from "../api/session.ts";
import { parseAmount } from "../ui/amount.ts";
import { Button } from "../ui/button.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { formatDay, formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { InlineError, Loaded } from "../ui/status.tsx";
import { Invitations } from "./invitations.tsx";
import { Members } from "./members.tsx";
import { LIMITS, type Limit, type TeamChanges, toUpdateTeamRequest } from "./team-changes.ts";

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

function TeamForm({ team }: { readonly team: TeamDetail }) {
  const [changes, setChanges] = useState<TeamChanges>({});
  const save = useMutation({
    mutationFn: (sent: TeamChanges) => client.teams.update(team.uid, toUpdateTeamRequest(sent)),
    onSuccess: async (_saved, sent) => {
      await Promise.all([refreshQueries({ queryKey: ["teams"] }), refreshQueries({ queryKey: sessionQuery.queryKey })]);
      setChanges((last) => (last === sent ? {} : last));
    },
  });
  const change = (more: TeamChanges) => setChanges((last) => ({ ...last, ...more }));
  const textError = (limit: Limit) => parseAmount(changes[limit] ?? "").error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const limits = [...LIMITS.map(([limit]) => limit), "budget_usd_month", "retention_days"] as const;
    if (limits.every((limit) => textError(limit) === undefined)) save.mutate(changes);
  };
  return (
    <section className="card" aria-label={`Team ${revealHidden(team.name)}`}>
      <div className="card-head">
        <h2>Team and limits</h2>
      </div>
      <form className="card-body stack" onSubmit={submit} noValidate>
        <TextField
          label="Team name"
          maxLength={256}
          value={changes.name ?? team.name}
          error={fieldError(save.error, "name")}
          onChange={(event) => change({ name: event.target.value })}
        />
        <div className="field-row">
          {LIMITS.map(([limit, label]) => (
            <TextField
              key={limit}
              label={label}
              inputMode="numeric"
              placeholder="Default"
              value={changes[limit] ?? String(team.settings[limit])}
              error={textError(limit) ?? fieldError(save.error, limit)}
              onChange={(event) => change({ [limit]: event.target.value })}
            />
          ))}
        </div>
        <TextField
          label="Budget for models in a month, in US dollars"
          inputMode="decimal"
          placeholder="Not limited"
          value={changes.budget_usd_month ?? String(team.settings.budget_usd_month ?? "")}
          error={textError("budget_usd_month") ?? fieldError(save.error, "budget_usd_month")}
          hint={describeMonth(team.month)}
          onChange={(event) => change({ budget_usd_month: event.target.value.replace(",", ".") })}
        />
        <TextField
          label="Delete runs, days after their end"
          inputMode="numeric"
          placeholder="Never"
          value={changes.retention_days ?? String(team.settings.retention_days ?? "")}
          error={textError("retention_days") ?? fieldError(save.error, "retention_days")}
          hint="With their conversations and files, which cannot be restored. Usage reports stay."
          onChange={(event) => change({ retention_days: event.target.value })}
        />
        <SelectField
          label="Public runs"
          value={changes.sharing ?? (team.settings.sharing_allowed ? "allowed" : "forbidden")}
          onChange={(event) => change({ sharing: event.target.value === "allowed" ? "allowed" : "forbidden" })}
        >
          <option value="allowed">Allowed</option>
          <option value="forbidden">Forbidden</option>
        </SelectField>
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

const describeMonth = ({ spent_usd, renews_at }: TeamDetail["month"]): string =>
  `${formatUsd(spent_usd)} spent this month. The next one begins ${formatDay(renews_at.slice(0, 10))} (UTC).`;
