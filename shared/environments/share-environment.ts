import { randomBytes } from "node:crypto";
import { invalid, lostRace, notFound, RunyardError } from "#shared/errors.ts";
import { isUuid, sha256 } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import type { ShareRequest, ShareResponse } from "#shared/wire/environment.ts";
import { guestAttribute, isOwnedBy, putEntry } from "./environment.ts";
import type { EnvironmentPorts } from "./ports.ts";
import { ownEnvironment } from "./write-environment.ts";

/** Guests of one environment: its deletion takes them along in one transaction. */
const MOST_GUESTS = 50;

/**
 * Shares an environment: with a person, who then sees it in lists and may run in it, or with whoever has the link, which
 * shows it. There is one link at a time: another replaces it.
 */
export async function shareEnvironment(
  uid: string,
  { user_uid: guest }: ShareRequest,
  principal: Principal,
  ports: EnvironmentPorts,
): Promise<ShareResponse> {
  const environment = await ownEnvironment(uid, principal, ports);
  const key = keys.environment(uid);
  if (guest === undefined) {
    const token = `${uid}.${randomBytes(32).toString("base64url")}`;
    await ifThere(
      ports.table.write({ kind: "update", key, set: { link_hash: sha256(token) }, if: { pk: { exists: true } } }),
    );
    return { link: `${ports.baseUrl}/agent/environments/${uid}?link=${token}` };
  }
  const scope: Owner = { type: "User", uid: guest };
  if (isOwnedBy(environment, scope)) throw invalid("user_uid", "is the owner");
  if (environment.guests.has(guest)) return {};
  const user = isUuid(guest) ? await ports.table.get(keys.user(guest)) : undefined;
  if (user === undefined) throw invalid("user_uid", "there is no such person");
  if (environment.guests.size >= MOST_GUESTS) {
    throw new RunyardError("conflict", {
      detail: `an environment has at most ${MOST_GUESTS} guests; share it by link, or with a team`,
      retryable: false,
    });
  }
  const attribute = guestAttribute(guest);
  const update = {
    kind: "update" as const,
    key,
    set: { [attribute]: ports.now() },
    add: { guests: 1 },
    if: { name: { exists: true }, [attribute]: { exists: false }, guests: { absentOr: { below: MOST_GUESTS } } },
  };
  await unlessRaced(ports.table.transact([update, putEntry(scope, uid)]));
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

async function unlessRaced(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw lostRace("the environment changed in between; send the request again");
  }
}
