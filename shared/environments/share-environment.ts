import { randomBytes } from "node:crypto";
import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { isUuid, sha256 } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { ShareRequest, ShareResponse } from "#shared/wire/environment.ts";
import { type Environment, isOwnedBy } from "./environment.ts";
import type { EnvironmentPorts } from "./environment-ports.ts";
import { type ShareStore, shareStore } from "./share-store.ts";
import { findOwnEnvironment } from "./write-environment.ts";

/** Guests of one environment: its deletion removes their entries in the same transaction. */
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
 * Shares an environment: with a person, who then sees it in lists and may use it for runs, or with everyone who has its link, which
 * lets them read it. An environment has one link at a time: a new one replaces it. The link is returned once, and not to a repeat.
 */
export async function addShare(call: ShareCall, ports: EnvironmentPorts): Promise<SharedEnvironment> {
  const { uid, request, principal, once } = call;
  const environment = await findOwnEnvironment(uid, principal, ports);
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
          "this request has created a link already, and a link is shown only once: create another, which replaces it, with a new Idempotency-Key",
        retryable: false,
      });
    },
  );
}

async function shareByLink(uid: string, record: Put, { table, baseUrl }: EnvironmentPorts): Promise<ShareResponse> {
  const token = `${uid}.${randomBytes(32).toString("base64url")}`;
  await orExists(shareStore(table).setLink(uid, sha256(token), record), () => notFound("environment"));
  return { link: `${baseUrl}/agent/environments/${uid}?link=${token}` };
}

async function shareWith(
  guest: string,
  environment: Environment,
  record: Put,
  { table, now }: EnvironmentPorts,
): Promise<ShareResponse> {
  const { uid } = environment;
  const shares = shareStore(table);
  if (isOwnedBy(environment, { type: "User", uid: guest })) throw invalid("user_uid", "is the owner");
  if (environment.guests.has(guest)) {
    await orExists(shares.keep(record), changedSince);
    return {};
  }
  if (!isUuid(guest) || !(await shares.isUser(guest))) throw invalid("user_uid", "there is no such person");
  if (environment.guests.size >= MAX_GUESTS) {
    throw new RunyardError("conflict", {
      detail: `an environment has at most ${MAX_GUESTS} guests; share it by link, or with a team`,
      retryable: false,
    });
  }
  await orExists(shares.addGuest(uid, { user: guest, since: now() }, MAX_GUESTS, record), changedSince);
  return {};
}

/** Stops sharing an environment with a person, or by link. What is not shared stays as it is. */
export async function removeShare(
  uid: string,
  { user_uid: guest }: ShareRequest,
  principal: Principal,
  { table }: EnvironmentPorts,
): Promise<ShareResponse> {
  const environment = await findOwnEnvironment(uid, principal, { table });
  const shares = shareStore(table);
  if (guest === undefined) await removeLink(uid, shares);
  else if (environment.guests.has(guest)) await removeGuest(uid, guest, shares);
  return {};
}

async function removeLink(uid: string, shares: ShareStore): Promise<void> {
  try {
    await shares.removeLink(uid);
  } catch (error) {
    throw error instanceof ConditionFailed ? notFound("environment") : error;
  }
}

async function removeGuest(uid: string, guest: string, shares: ShareStore): Promise<void> {
  try {
    await shares.removeGuest(uid, guest);
  } catch (error) {
    throw error instanceof ConflictError ? changedSince() : error;
  }
}

const changedSince = () => retryableConflict("the environment has changed; send the request again");

/** Waits for a transaction with the record of the request; throws `otherwise` where another write of it failed. */
async function orExists(writing: Promise<void>, otherwise: () => RunyardError): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : otherwise();
  }
}
