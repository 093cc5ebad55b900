import { randomBytes } from "node:crypto";
import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { isUuid, sha256 } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { ConditionFailed, type Put, type Update } from "#shared/table/table.ts";
import type { ShareRequest, ShareResponse } from "#shared/wire/environment.ts";
import { type Environment, guestAttribute, isOwnedBy, putEntry } from "./environment.ts";
import type { EnvironmentPorts } from "./ports.ts";
import { ownEnvironment } from "./write-environment.ts";

/** Guests of one environment: its deletion takes them along in one transaction. */
const MAX_GUESTS = 50;

interface ShareCall {
  readonly uid: string;
  readonly request: ShareRequest;
  readonly principal: Principal;
  readonly once: IdempotentRequest;
}

interface SharedEnvironment {
  readonly shared: ShareResponse;
  readonly replayed: boolean;
}

/**
 * Shares an environment: with a person, who then sees it in lists and may run in it, or with whoever has the link, which
 * shows it. There is one link at a time: another replaces it. It is shown this once, so a repeat is not shown it again.
 */
export async function shareEnvironment(call: ShareCall, ports: EnvironmentPorts): Promise<SharedEnvironment> {
  const { uid, request, principal, once } = call;
  const environment = await ownEnvironment(uid, principal, ports);
  const { user_uid: guest } = request;
  return runIdempotent<SharedEnvironment>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      const shared =
        guest === undefined
          ? await shareByLink(uid, record(uid), ports)
          : await shareWith(guest, environment, record(uid), ports);
      return { shared, replayed: false };
    },
    async () => {
      if (guest !== undefined) return { shared: {}, replayed: true };
      throw new RunyardError("conflict", {
        detail:
          "this request has made a link already, and a link is shown only once: make another, which replaces it, with a new Idempotency-Key",
        retryable: false,
      });
    },
  );
}

async function shareByLink(uid: string, record: Put, { table, baseUrl }: EnvironmentPorts): Promise<ShareResponse> {
  const token = `${uid}.${randomBytes(32).toString("base64url")}`;
  const link: Update = {
    kind: "update",
    key: keys.environment(uid),
    set: { link_hash: sha256(token) },
    if: { pk: { exists: true } },
  };
  await orTaken(table.transact([record, link]), () => notFound("environment"));
  return { link: `${baseUrl}/agent/environments/${uid}?link=${token}` };
}

async function shareWith(
  guest: string,
  environment: Environment,
  record: Put,
  { table, now }: EnvironmentPorts,
): Promise<ShareResponse> {
  const { uid } = environment;
  const scope: Owner = { type: "User", uid: guest };
  if (isOwnedBy(environment, scope)) throw invalid("user_uid", "is the owner");
  if (environment.guests.has(guest)) {
    await orTaken(table.transact([record]), raced);
    return {};
  }
  const user = isUuid(guest) ? await table.get(keys.user(guest)) : undefined;
  if (user === undefined) throw invalid("user_uid", "there is no such person");
  if (environment.guests.size >= MAX_GUESTS) {
    throw new RunyardError("conflict", {
      detail: `an environment has at most ${MAX_GUESTS} guests; share it by link, or with a team`,
      retryable: false,
    });
  }
  const attribute = guestAttribute(guest);
  const update: Update = {
    kind: "update",
    key: keys.environment(uid),
    set: { [attribute]: now() },
    add: { guests: 1 },
    if: { name: { exists: true }, [attribute]: { exists: false }, guests: { absentOr: { below: MAX_GUESTS } } },
  };
  await orTaken(table.transact([record, update, putEntry(scope, uid)]), raced);
  return {};
}

/** Ends the sharing with a person, or by the link. What is not shared already stays as it is. */
export async function unshareEnvironment(
  uid: string,
  { user_uid: guest }: ShareRequest,
  principal: Principal,
  ports: EnvironmentPorts,
): Promise<ShareResponse> {
  const environment = await ownEnvironment(uid, principal, ports);
  const key = keys.environment(uid);
  if (guest === undefined) {
    await ifThere(ports.table.write({ kind: "update", key, remove: ["link_hash"], if: { pk: { exists: true } } }));
    return {};
  }
  if (!environment.guests.has(guest)) return {};
  const attribute = guestAttribute(guest);
  await unlessRaced(
    ports.table.transact([
      { kind: "update", key, add: { guests: -1 }, remove: [attribute], if: { [attribute]: { exists: true } } },
      { kind: "delete", key: keys.environmentEntry({ type: "User", uid: guest }, uid) },
    ]),
  );
  return {};
}

async function ifThere(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    throw error instanceof ConditionFailed ? notFound("environment") : error;
  }
}

const raced = () => retryableConflict("the environment changed in between; send the request again");

async function unlessRaced(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    throw error instanceof ConditionFailed ? raced() : error;
  }
}

/** A transaction whose first write is the record of the request. */
async function orTaken(writing: Promise<void>, otherwise: () => RunyardError): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw error.positions.includes(0) ? new IdempotencyRecordExists() : otherwise();
  }
}
