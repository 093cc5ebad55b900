import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, type LinkProps, linkOptions } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { AuditEvent, ListAuditEventsResponse } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { byCursor } from "../api/pages.ts";
import { peopleQuery } from "../api/queries.ts";
import { titleOf } from "../runs/title-of.ts";
import { TextField } from "../ui/field.tsx";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { personName } from "../ui/person-name.ts";
import { Empty } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

const PAGE_SIZE = 50;

const auditQuery = (teamUid: string, action: string) =>
  infiniteQueryOptions({
    queryKey: ["teams", teamUid, "audit", action],
    queryFn: async ({ pageParam, signal }): Promise<ListAuditEventsResponse> => {
      const query = {
        limit: PAGE_SIZE,
        ...(action === "" ? {} : { action }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      };
      return (await client.audit.list(query, { team: teamUid, signal })).body;
    },
    ...byCursor,
  });

/** The titles of the latest runs of a team by id, which are no part of its audit log. */
const runTitlesQuery = (teamUid: string) =>
  queryOptions({
    queryKey: ["teams", teamUid, "run-titles"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const query = { sort_by: "created_at", archived: "all", limit: 200 } as const;
      const { runs } = (await client.runs.list(query, { team: teamUid, signal })).body;
      return new Map(runs.map((run) => [run.run_id, titleOf(run)]));
    },
  });

/** Who changed what in a team, newest first. */
export function AuditLog({ teamUid, name }: { readonly teamUid: string; readonly name: string }) {
  const [field, setField] = useState("");
  const [action, setAction] = useState("");
  const query = useInfiniteQuery(auditQuery(teamUid, action));
  const people = useQuery(peopleQuery([teamUid])).data ?? [];
  const titles = useQuery(runTitlesQuery(teamUid)).data;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAction(field.trim());
  };
  return (
    <section className="card" aria-label={`Audit log of ${revealHidden(name)}`}>
      <div className="card-head">
        <h2>{revealHidden(name)}</h2>
      </div>
      <form className="card-body" onSubmit={submit} noValidate>
        <TextField
          label="Action"
          optional
          placeholder="keys.delete"
          hint="An action or its beginning, such as keys. Press Enter."
          autoCapitalize="none"
          spellCheck={false}
          value={field}
          onChange={(event) => setField(event.target.value)}
        />
      </form>
      <PagedList
        query={query}
        rows={5}
        empty={
          <Empty icon={<ScrollText size={26} aria-hidden />} title="No events">
            <p>{action === "" ? "Nothing was changed yet." : "No request had this action."}</p>
          </Empty>
        }
      >
        {({ events }) =>
          events.map((event) => (
            <AuditRow
              key={event.id}
              event={event}
              name={toName(event.actor, people)}
              title={titles?.get(event.target.uid)}
            />
          ))
        }
      </PagedList>
    </section>
  );
}

/** The name of who changed something. Events of a run's key, and those of members who have left, may not have it. */
const toName = (actor: AuditEvent["actor"], people: readonly Named[]): string =>
  personName(actor) || revealHidden(people.find(({ uid }) => uid === actor.uid)?.name ?? actor.uid);

interface Named {
  readonly uid: string;
  readonly name: string;
}

/** What the actor used, and from where. */
function describeVia({ via, key_suffix, ip }: AuditEvent): string {
  const by = key_suffix === undefined ? via : `${via} …${key_suffix}`;
  return ip === undefined ? by : `${by} from ${ip}`;
}

/** The pages of targets by type. The page of a deleted target says so. */
const PAGES: Readonly<Record<string, (uid: string) => LinkProps>> = {
  run: (runId) => linkOptions({ to: "/runs/$runId", params: { runId } }),
  schedule: (scheduleId) => linkOptions({ to: "/schedules/$scheduleId", params: { scheduleId } }),
  identity: (agentUid) => linkOptions({ to: "/agents/$agentUid", params: { agentUid } }),
  environment: (environmentUid) => linkOptions({ to: "/environments/$environmentUid", params: { environmentUid } }),
  trigger: (triggerUid) => linkOptions({ to: "/triggers/$triggerUid", params: { triggerUid } }),
};

/** What was changed, as a link where it has a page. */
function Target({
  target: { type, uid, name },
  title,
}: Pick<AuditEvent, "target"> & { readonly title: string | undefined }) {
  const text = title ?? revealHidden(name ?? uid);
  const page = PAGES[type]?.(uid);
  return page === undefined ? text : <Link {...page}>{text}</Link>;
}

interface AuditRowProps {
  readonly event: AuditEvent;
  /** The name of who changed something. */
  readonly name: string;
  /** The title of the run that was changed, if it is known. */
  readonly title: string | undefined;
}

const AuditRow = ({ event, name, title }: AuditRowProps) => {
  const { action, target, changes = [], refused, at } = event;
  return (
    <li className="item">
      <div className="item-main">
        <span className="item-title mono">{action}</span>
        <p className="item-facts">
          <span>
            {toWords(target.type)} <Target target={target} title={title} />
          </span>
          {changes.length > 0 && <span className="faint">{changes.join(", ")}</span>}
        </p>
        <p className="item-facts">
          <span>{name}</span>
          <span className="faint">{describeVia(event)}</span>
        </p>
      </div>
      <div className="item-side">
        {refused === true && <span className="badge tone-bad">Refused</span>}
        <Time at={at} />
      </div>
    </li>
  );
};
