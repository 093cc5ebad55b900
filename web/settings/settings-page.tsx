import "../styles/run.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { client } from "../api/client.ts";
import { ownKeysQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { sessionQuery, useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { KeyList } from "../ui/key-list.tsx";
import { Page } from "../ui/page.tsx";
import { InlineError } from "../ui/status.tsx";
import { SessionList } from "./session-list.tsx";
import { TeamSection } from "./team-section.tsx";

export function SettingsPage() {
  const me = useMe();
  const keys = useQuery(ownKeysQuery);
  return (
    <Page title="Settings" narrow>
      <div className="stack">
        <Profile key={me.uid} />
        <KeyList
          title="Your API keys"
          query={keys}
          queryKey={ownKeysQuery.queryKey}
          create={(request) => client.keys.create(request)}
          revoke={(uid) => client.keys.delete(uid)}
        />
        <SessionList />
        {me.teams.map((team) => (
          <TeamSection key={team.uid} teamUid={team.uid} isAdmin={team.role === "admin"} me={me.uid} />
        ))}
      </div>
    </Page>
  );
}

function Profile() {
  const me = useMe();
  const [name, setName] = useState(me.display_name);
  const save = useMutation({
    mutationFn: () => client.me.update({ display_name: name.trim() }),
    onSuccess: () => refreshQueries({ queryKey: sessionQuery.queryKey }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <section className="card" aria-label="Profile">
      <div className="card-head">
        <h2>Profile</h2>
        <span className="faint">{me.email}</span>
      </div>
      <form className="card-body stack" onSubmit={submit} noValidate>
        <TextField label="Name" maxLength={256} value={name} onChange={(event) => setName(event.target.value)} />
        <InlineError error={save.error} />
        <div className="row">
          <Button type="submit" busy={save.isPending} disabled={name.trim() === "" || name.trim() === me.display_name}>
            Save
          </Button>
        </div>
      </form>
    </section>
  );
}
