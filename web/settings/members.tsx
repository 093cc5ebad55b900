import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as v from "valibot";
import type { MemberItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { membersQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { sessionQuery } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { personName } from "../ui/person-name.ts";
import { InlineError, Loaded } from "../ui/status.tsx";

const Role = v.picklist(["admin", "member"]);

interface MembersProps {
  readonly teamUid: string;
  readonly isAdmin: boolean;
  readonly me: string;
}

export function Members({ teamUid, isAdmin, me }: MembersProps) {
  const query = useQuery(membersQuery(teamUid));
  const [removing, setRemoving] = useState<MemberItem>();
  const refresh = async (uid: string) => {
    // The session says what the viewer is in the team, and so what is shown of it.
    if (uid === me) await refreshQueries({ queryKey: sessionQuery.queryKey });
    await refreshQueries({ queryKey: ["teams", teamUid] });
  };
  const change = useMutation({
    mutationFn: ({ uid, role }: { uid: string; role: string }) =>
      client.teams.members.update(teamUid, uid, { role: v.parse(Role, role) }),
    onSettled: (_member, _error, { uid }) => refresh(uid),
  });
  const remove = useMutation({
    mutationFn: (uid: string) => client.teams.members.remove(teamUid, uid),
    onSuccess: async (_removed, uid) => {
      setRemoving(undefined);
      await refresh(uid);
    },
  });
  return (
    <section className="card" aria-label="Members">
      <div className="card-head">
        <h2>Members</h2>
      </div>
      <InlineError error={change.error} />
      <Loaded query={query} rows={2}>
        {(members) =>
          members.length === 0 ? (
            <p className="card-body faint">No members</p>
          ) : (
            <ul className="item-list">
              {members.map((member) => (
                <li key={member.uid} className="item item-short">
                  <div className="item-main">
                    <span className="item-title">{personName(member)}</span>
                    <p className="item-facts">{revealHidden(member.email)}</p>
                  </div>
                  {isAdmin ? (
                    <select
                      className="input role"
                      aria-label={`Role of ${revealHidden(member.email)}`}
                      value={member.role}
                      onChange={(event) => change.mutate({ uid: member.uid, role: event.target.value })}
                    >
                      <option value="admin">Admin</option>
                      <option value="member">Member</option>
                    </select>
                  ) : (
                    <span className="badge">{member.role}</span>
                  )}
                  {(isAdmin || member.uid === me) && (
                    <Button small look="danger" onClick={() => setRemoving(member)}>
                      {member.uid === me ? "Leave" : "Remove"}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <Confirm
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Remove ${removing?.email ?? ""} from the team?`}
        text="The agent keys that the person created are revoked."
        action="Remove"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => removing !== undefined && remove.mutate(removing.uid)}
      />
    </section>
  );
}
