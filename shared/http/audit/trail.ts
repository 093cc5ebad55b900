import { AsyncLocalStorage } from "node:async_hooks";
import { type NewAuditEvent, putAuditEvent } from "#shared/records/audit-event.ts";
import type { RequestOrigin } from "#shared/records/request-origin.ts";
import type { Item, Key, Put, Table, TransactionWrite, Value, Write } from "#shared/table/table.ts";
import type { AuditTarget } from "#shared/wire/audit/audit.ts";
import type { Action } from "./action.ts";

/** A request whose first change of the table is recorded. */
export interface AuditedRequest {
  readonly action: Action;
  /** The ids in its path; the last one is that of the thing that it is about. */
  readonly uids: readonly string[];
  /** The team of the caller's own things, such as keys. */
  readonly team: string | undefined;
  readonly event: Omit<NewAuditEvent, "target" | "action">;
}

interface Trail {
  readonly request: AuditedRequest;
  readonly isRecorded: boolean;
  /** False once the event is written, and after the request. */
  isOpen: boolean;
  /** The scope of what the request is about, as far as it was read. */
  owner?: OwnerFound | undefined;
  name?: string | undefined;
  /** The teams whose logs record the request, if its endpoint names them. */
  teams?: ChangedTeams | undefined;
  /** Writes the event of a change that was stored without one, because another change was to carry it. */
  writeAlone?: (() => Promise<void>) | undefined;
}

/** The teams whose resources a request changes, with details for the event in the log of each. */
type ChangedTeams = readonly (readonly [team: string, details: Pick<NewAuditEvent, "filter" | "matched">])[];

type OwnerFound = { readonly team: string } | "person";

const current = new AsyncLocalStorage<Trail>();

/** Runs `work`, and records its first change of an audited table, unless `isRecorded` is false. */
export async function withAudit<T>(request: AuditedRequest, isRecorded: boolean, work: () => Promise<T>): Promise<T> {
  const trail: Trail = { request, isRecorded, isOpen: isRecorded };
  try {
    return await current.run(trail, work);
  } finally {
    // The change that was to carry the event has failed, and no later one has carried it.
    if (trail.isOpen) await trail.writeAlone?.();
    trail.isOpen = false;
  }
}

/** How the current request was sent, for the record of what it creates. */
export function readOrigin(): { readonly origin?: RequestOrigin } {
  const request = current.getStore()?.request;
  if (request === undefined) return {};
  const { via, key_suffix, request_id } = request.event;
  return { origin: { via, request_id, ...(key_suffix === undefined ? {} : { key_suffix }) } };
}

/**
 * Names the teams whose logs record the current request, before its first change. None if it changes only what belongs to a
 * person.
 */
export function describeChange(teams: ChangedTeams): void {
  const trail = current.getStore();
  if (trail !== undefined) trail.teams = teams;
}

/** Runs `work` outside of any other request. */
export const withoutAudit = <T>(work: () => T): T => current.exit(work);

/**
 * A table that adds an event of the audit log to the first change of a request, in the same transaction. Outside of requests it is
 * `table` itself. What a request reads tells whose thing it changes.
 */
export function auditedTable<T extends Table>(table: T, now: () => number): T {
  const transact = async (writes: readonly TransactionWrite[], alone: () => Promise<void>): Promise<void> => {
    const trail = current.getStore();
    if (trail === undefined || !trail.isRecorded || !writes.some(isChange)) return alone();
    const isCarried = !trail.isOpen;
    const events = isCarried ? [] : toEvents(trail, writes, now());
    const writeAlone = async (): Promise<void> => {
      const missed = toEvents(trail, writes, now());
      if (missed.length > 0) await table.transact(missed);
    };
    if (events.length === 0) {
      await alone();
      if (isCarried) trail.writeAlone ??= writeAlone;
      return;
    }
    // Closed before the write, since a request may have several at once.
    trail.isOpen = false;
    try {
      // A transaction has 100 writes at most.
      if (writes.length + events.length <= 100) return await table.transact([...writes, ...events]);
      await alone();
      await table.transact(events);
    } catch (error) {
      trail.isOpen = true;
      throw error;
    }
  };
  return {
    ...table,
    async get(key: Key) {
      const item = await table.get(key);
      observe(item);
      return item;
    },
    async batchGet(keys: readonly Key[]) {
      const items = await table.batchGet(keys);
      for (const item of items) observe(item);
      return items;
    },
    write: (write: Write) => transact([write], () => table.write(write)),
    transact: (writes: readonly TransactionWrite[]) => transact(writes, () => table.transact(writes)),
  };
}

/** What every request may write besides a change: its own record, its rate, and the key that signs cursors. */
function isChange(write: TransactionWrite): boolean {
  return write.kind !== "check" && !/^(IDEM#|BUCKET#|SIGNING$)/.test(pkOf(write));
}

const keyOf = (write: TransactionWrite) => (write.kind === "put" ? write.item : write.key);
const pkOf = (write: TransactionWrite): string => keyOf(write).pk;

/** Remembers whose the thing is that the request is about. */
function observe(item: Item | undefined): void {
  const trail = current.getStore();
  if (trail === undefined || item === undefined) return;
  const { uids } = trail.request;
  const found = uids.find((uid) => item.pk.endsWith(`#${uid}`) || item.sk.endsWith(`#${uid}`));
  if (found === undefined) return;
  trail.owner ??= findOwner(item);
  if (found === uids.at(-1)) trail.name ??= textOf(item["name"]);
}

function findOwner(item: Item): OwnerFound | undefined {
  const { owner, scope, team_uid: team } = item;
  const stored = typeof scope === "string" ? scope : isOwner(owner) ? `${owner.type.toUpperCase()}#${owner.uid}` : "";
  if (typeof team === "string") return { team };
  return toOwner(stored) ?? toOwner(item.pk);
}

function toOwner(key: string): OwnerFound | undefined {
  const [, type, uid] = /^(TEAM|USER)#([^#]+)/.exec(key) ?? [];
  if (type === undefined || uid === undefined) return undefined;
  return type === "TEAM" ? { team: uid } : "person";
}

function isOwner(value: Value | undefined): value is { readonly type: string; readonly uid: string } {
  if (typeof value !== "object" || value === null) return false;
  return "type" in value && typeof value.type === "string" && "uid" in value && typeof value.uid === "string";
}

const textOf = (value: Value | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** The writes of the request's events; none where it is about a person's own things, which are no team's business. */
function toEvents(trail: Trail, writes: readonly TransactionWrite[], now: number): Put[] {
  const { action, event, uids, team: ownTeam } = trail.request;
  const team = action.isOwn ? ownTeam : findTeam(trail, writes);
  const teams: ChangedTeams = trail.teams ?? (team === undefined ? [] : [[team, {}]]);
  const created = writes.flatMap((write) => (write.kind === "put" ? [write.item] : []));
  const uid = action.name.endsWith(".create") ? findResult(created) : uids.at(-1);
  const isNamed = (item: Item) => item["uid"] === uid || item.pk.endsWith(`#${uid}`);
  const name = trail.name ?? created.flatMap((item) => (isNamed(item) ? (textOf(item["name"]) ?? []) : []))[0];
  const named = uid === undefined ? undefined : { type: action.type, uid, ...(name === undefined ? {} : { name }) };
  return teams.map(([changed, details]) =>
    putAuditEvent(
      changed,
      { ...event, ...details, action: action.name, target: named ?? toCallerOrTeam(action.isOwn, event, changed) },
      now,
    ),
  );
}

/** What a request is about that names nothing: its caller, or their team. */
const toCallerOrTeam = (isOwn: boolean, { actor }: AuditedRequest["event"], team: string): AuditTarget =>
  isOwn ? { type: "user", uid: actor.uid } : { type: "team", uid: team };

function findTeam({ owner }: Trail, writes: readonly TransactionWrite[]): string | undefined {
  if (owner === "person") return undefined;
  const owners = [
    owner,
    ...writes.map((write) => (write.kind === "put" ? findOwner(write.item) : toOwner(pkOf(write)))),
  ];
  return owners.find((one) => typeof one === "object")?.team;
}

/** The id of what a request creates, from the record that makes the request idempotent. */
function findResult(created: readonly Item[]): string | undefined {
  const result = created.find(({ pk }) => pk.startsWith("IDEM#"))?.["result"];
  return typeof result === "string" && isShownId(result) ? result : undefined;
}

/** An id as it may be shown; anything else in its place is a text of the caller. */
export const isShownId = (text: string): boolean => /^[\w.-]{1,256}$/.test(text);
