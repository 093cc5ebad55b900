import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as v from "valibot";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { invitationsQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button, CopyButton } from "../ui/button.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

const Role = v.picklist(["admin", "member"]);

/** The open invitations of a team, and the form for another one. */
export function Invitations({ teamUid }: { readonly teamUid: string }) {
  const query = useQuery(invitationsQuery(teamUid));
  const revoke = useMutation({
    mutationFn: (id: string) => client.teams.invitations.delete(teamUid, id),
    onSuccess: () => refreshQueries({ queryKey: ["teams", teamUid, "invitations"] }),
  });
  return (
    <section className="card" aria-label="Invitations">
      <div className="card-head">
        <h2>Invitations</h2>
      </div>
      <InviteForm teamUid={teamUid} />
      <InlineError error={revoke.error} />
      <Loaded query={query} rows={1}>
        {(invitations) =>
          invitations.length === 0 ? (
            <p className="card-body faint">No invitation is open.</p>
          ) : (
            <ul className="item-list">
              {invitations.map(({ id, email, role, expires_at }) => (
                <li key={id} className="item item-short">
                  <div className="item-main">
                    <span className="item-title">{revealHidden(email)}</span>
                    <p className="item-facts">
                      <span>{toWords(role)}</span>
                      <span>
                        expires <Time at={expires_at} />
                      </span>
                    </p>
                  </div>
                  <Button small look="danger" onClick={() => revoke.mutate(id)}>
                    Revoke
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function InviteForm({ teamUid }: { readonly teamUid: string }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<v.InferOutput<typeof Role>>("member");
  const invite = useMutation({
    mutationFn: () => client.teams.invitations.create(teamUid, { email: email.trim(), role }),
    onSuccess: () => {
      setEmail("");
      return refreshQueries({ queryKey: ["teams", teamUid, "invitations"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <form className="card-body stack invite" onSubmit={submit} noValidate>
      <div className="field-row">
        <TextField
          label="Email address"
          type="email"
          value={email}
          error={fieldError(invite.error, "email")}
          onChange={(event) => setEmail(event.target.value)}
        />
        <SelectField label="Role" value={role} onChange={(event) => setRole(v.parse(Role, event.target.value))}>
          <option value="member">Member</option>
          <option value="admin">Admin</option>
        </SelectField>
      </div>
      <InlineError error={invite.error} />
      <div className="row">
        <Button type="submit" busy={invite.isPending} disabled={email.trim() === ""}>
          Create an invitation
        </Button>
      </div>
      {invite.data !== undefined && (
        <div role="status" className="stack">
          <p>Send this link to {revealHidden(invite.data.email)}. It is shown this once and works once, for a week.</p>
          <div className="secret">
            <code>{invite.data.link}</code>
            <CopyButton text={invite.data.link} label="Copy the link" />
          </div>
        </div>
      )}
    </form>
  );
}
