import "../styles/run.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { client } from "../api/client.ts";
import { ownKeysQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { sessionQuery, useMe } from "../api/session.ts";
import { KeyList } from "../keys/key-list.tsx";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Page } from "../ui/page.tsx";
import { InlineError } from "../ui/status.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Installations } from "./installations.tsx";
import { SessionList } from "./session-list.tsx";
import { TeamSection } from "./team-section.tsx";
import { Webhooks } from "./webhooks.tsx";

/** The sections of the settings, with those who see them. */
const SECTIONS = [
  { name: "you", title: "You", viewers: "everyone" },
  { name: "keys", title: "API keys", viewers: "everyone" },
  { name: "team", title: "Team", viewers: "members" },
  { name: "webhooks", title: "Webhooks", viewers: "admins" },
  { name: "github", title: "GitHub", viewers: "admins" },
  { name: "audit", title: "Audit log", viewers: "admins" },
] as const;

/** A section of the settings, each with an address of its own. */
export function SettingsPage() {
  const me = useMe();
  const { section } = useParams({ strict: false });
  const isViewer = {
    everyone: true,
    members: me.teams.length > 0,
    admins: me.teams.some(({ role }) => role === "admin"),
  };
  const sections = SECTIONS.filter(({ viewers }) => isViewer[viewers]);
  const { name: current, title } = sections.find(({ name }) => name === section) ?? SECTIONS[0];
  const tabs = useRef<HTMLElement>(null);
  // On a phone, the tabs are wider than the screen.
  useEffect(() => {
    if (current !== "you") tabs.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <Page title={current === "you" ? "Settings" : title} narrow>
      <nav aria-label="Sections of the settings" className="tabs" ref={tabs}>
        {sections.map(({ name, title: label }) => (
          <Link
            key={name}
            {...(name === "you" ? { to: "/settings" } : { to: "/settings/$section", params: { section: name } })}
            className="tab"
            activeProps={{ className: "tab active" }}
            activeOptions={{ exact: true }}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className="stack">
        <SectionContent section={current} />
      </div>
    </Page>
  );
}

function SectionContent({ section }: { readonly section: (typeof SECTIONS)[number]["name"] }) {
  const me = useMe();
  const administered = me.teams.filter(({ role }) => role === "admin");
  if (section === "keys") return <OwnKeys />;
  if (section === "team") {
    return me.teams.map(({ uid, role }) => (
      <TeamSection key={uid} teamUid={uid} isAdmin={role === "admin"} me={me.uid} />
    ));
  }
  if (section === "webhooks")
    return administered.map(({ uid, name }) => <Webhooks key={uid} teamUid={uid} teamName={name} />);
  if (section === "github")
    return administered.map(({ uid, name }) => <Installations key={uid} teamUid={uid} teamName={name} />);
  if (section === "audit") return administered.map(({ uid, name }) => <AuditLog key={uid} teamUid={uid} name={name} />);
  return (
    <>
      <Profile key={me.uid} />
      <SessionList />
    </>
  );
}

const OwnKeys = () => (
  <KeyList
    title="Your API keys"
    query={useQuery(ownKeysQuery)}
    queryKey={ownKeysQuery.queryKey}
    create={(request) => client.keys.create(request)}
    revoke={(uid) => client.keys.delete(uid)}
  />
);

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
