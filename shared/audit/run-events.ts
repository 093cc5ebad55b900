import * as v from "valibot";
import { createdAtOf } from "#shared/ids.ts";
import { type StoredAuditEvent, toExpiry } from "#shared/records/audit-event.ts";
import { followupIdOf, parseFollowup, type StoredFollowup } from "#shared/records/followup.ts";
import { readBodies } from "#shared/records/run-body.ts";
import { parseRunId, RunFacets, readHead } from "#shared/records/run-head.ts";
import { runIndexStore, toHeadEntry, toScopes } from "#shared/runs/listing/run-index-store.ts";
import { runTimelineStore } from "#shared/runs/run-timeline-store.ts";
import type { Item, Table } from "#shared/table/table.ts";
import type { AuditVia } from "#shared/wire/audit/via.ts";

// Runs and follow-ups have no stored events, since they are created most often: their events are derived from their records.

/** The places between which events are read, and how many. */
export interface Range {
  readonly from: string;
  readonly before: string;
  readonly limit: number;
}

export const RUN_CREATED = "runs.create";
const FOLLOWUP_SENT = "runs.followups.create";

/** Reads the events of a team's created runs, newest first. The id of a run is that of its event too: both begin with the time. */
export async function readCreatedRuns(
  team: string,
  { from, before, limit }: Range,
  table: Pick<Table, "query">,
): Promise<StoredAuditEvent[]> {
  if (from >= before) return [];
  const sources = runIndexStore(table).byCreation(toScopes([{ type: "Team", uid: team }]));
  const pages = await Promise.all(sources.map((source) => source({ from, before }, limit, true)));
  return pages.flatMap(({ items }) => items.map(toCreationEvent));
}

/** Reads the events of a run of one of these teams: of its creation and of its follow-ups; none for another id. */
export async function readEventsOfRun(
  runId: string,
  teams: readonly string[],
  { from, before }: Range,
  table: Pick<Table, "get" | "query">,
): Promise<StoredAuditEvent[]> {
  const head = await readHead(runId, table);
  const scopes = toScopes(teams.map((uid) => ({ type: "Team", uid })));
  if (head === undefined || !scopes.includes(head.scope)) return [];
  const items = await runTimelineStore(table).followupItems(runId, 0);
  const events = [
    toCreationEvent({ ...toHeadEntry(runId), p: head.p }),
    ...items.map(parseFollowup).flatMap((followup) => toFollowupEvent(runId, followup)),
  ];
  return events.filter(({ id }) => id >= from && id < before);
}

/** Adds the names of the runs' creators and their requests, which only the records of the runs have. */
export async function addCreators(
  events: readonly StoredAuditEvent[],
  table: Pick<Table, "batchGet">,
): Promise<StoredAuditEvent[]> {
  const created = events.filter(isCreation);
  const bodies = await readBodies(
    created.map(({ id }) => id),
    table,
  );
  const found = new Map(created.map(({ id }, index) => [id, bodies[index]]));
  return events.map((event) => {
    const body = found.get(event.id);
    if (body === undefined) return event;
    // The event of a run of a schedule or a trigger says so, even if a person requested the run.
    const isUnattended = event.via === "schedule" || event.via === "trigger";
    return { ...event, actor: body.creator, ...body.origin, ...(isUnattended ? { via: event.via } : {}) };
  });
}

const isCreation = ({ id, target, action }: StoredAuditEvent): boolean => action === RUN_CREATED && target.uid === id;

function toCreationEvent(entry: Item): StoredAuditEvent {
  const runId = parseRunId(entry);
  const facets = v.parse(RunFacets, entry["p"]);
  const at = createdAtOf(runId);
  return {
    id: runId,
    at,
    expires_at: toExpiry(at),
    actor: { type: "user", uid: facets.creator },
    via: toVia(facets),
    action: RUN_CREATED,
    target: { type: "run", uid: runId },
    request_id: runId,
  };
}

function toVia({ trigger, schedule, source }: RunFacets): AuditVia {
  if (trigger !== undefined) return "trigger";
  if (schedule !== undefined) return "schedule";
  // Replaced once the run's own record is read, unless an earlier release stored it.
  return source === "WEB_APP" ? "session" : "key";
}

/** Follow-ups that earlier versions have stored do not say who sent them. */
function toFollowupEvent(runId: string, followup: StoredFollowup): StoredAuditEvent[] {
  const { created_at: at, created_by: actor } = followup;
  if (actor === undefined) return [];
  const uid = followupIdOf(followup);
  const id = toEventId(runId, at, uid);
  return [
    {
      id,
      at,
      expires_at: toExpiry(at),
      actor,
      via: "key",
      request_id: id,
      ...followup.origin,
      action: FOLLOWUP_SENT,
      target: { type: "run", uid: runId, name: uid },
    },
  ];
}

/** An id that is the same at each reading, and begins with the time. */
function toEventId(runId: string, at: number, followupId: string): string {
  const time = at.toString(16).padStart(12, "0");
  const number = (Number(followupId.replace(/\D/g, "")) % 0x1000).toString(16).padStart(3, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${number}${runId.slice(18)}`;
}
