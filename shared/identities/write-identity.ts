import { refuseOthersEnvironment } from "#shared/environments/team-environment.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { parseIdentity } from "#shared/records/identity.ts";
import { availableIn, register } from "#shared/records/identity-register.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type TransactionWrite } from "#shared/table/table.ts";
import { changeNamed } from "#shared/table/unique-name.ts";
import type { CreateIdentityRequest, UpdateIdentityRequest } from "#shared/wire/identity.ts";
import { changeOf } from "./change-identity.ts";
import { claimIdentityName, NAME_KIND, putIdentity } from "./identity-writes.ts";
import type { IdentityPorts } from "./ports.ts";
import { type FoundIdentity, refuseUnavailable, visibleIdentity } from "./read-identities.ts";

const taken = () =>
  new RunyardError("conflict", { detail: "name: another identity of the team has this name", retryable: false });

export interface Created {
  readonly found: FoundIdentity;
  readonly replayed: boolean;
}

/** Creates an identity once: within the plan's limit, under a name that no other has. */
export async function createIdentity(
  team: string,
  request: CreateIdentityRequest,
  once: IdempotentRequest,
  ports: IdentityPorts,
): Promise<Created> {
  return runIdempotent<Created>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      await refuseOthersEnvironment(request.environment_id, team, "environment_id", ports.table);
      const now = ports.now();
      const uid = uuidv7(now);
      const given = { uid, team_uid: team, name: request.name, created_at: now, updated_at: now };
      const identity = parseIdentity({ ...keys.identity(team, uid), ...given, ...changeOf(request, undefined).set });
      const writes = [register(team, uid, now), claimIdentityName(identity), putIdentity(identity), record(uid)];
      await write(team, writes, ports);
      return { found: { identity, available: true }, replayed: false };
    },
    async (uid) => {
      const [register, item] = await ports.table.batchGet([keys.identities(team), keys.identity(team, uid)]);
      if (item === undefined) {
        throw new RunyardError("conflict", {
          detail: "Idempotency-Key: the identity that was made with it is deleted; use a new key for a new one",
          retryable: false,
        });
      }
      return {
        found: { identity: parseIdentity(item), available: availableIn(register).has(uid) },
        replayed: true,
      };
    },
  );
}

/** The four writes of a new identity, and what it means when one of their conditions fails. */
async function write(team: string, writes: readonly TransactionWrite[], { table }: IdentityPorts): Promise<void> {
  try {
    await transactInScope({ type: "Team", uid: team }, writes, table);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.positions.includes(3)) throw new IdempotencyRecordExists();
    if (error.positions.includes(1)) throw taken();
    throw new RunyardError("feature_not_available", {
      detail: "the team has as many identities as its plan allows; delete one, or raise identity_limit",
    });
  }
}

/** Changes an identity: what the request does not say stays as it was. */
export async function updateIdentity(
  uid: string,
  request: UpdateIdentityRequest,
  principal: Principal,
  ports: IdentityPorts,
): Promise<FoundIdentity> {
  const found = await visibleIdentity(uid, principal, ports.table);
  refuseUnavailable(found);
  const before = found.identity;
  const { set, remove } = changeOf(request, before);
  await refuseOthersEnvironment(request.environment_id, before.team_uid, "environment_id", ports.table);
  const name = request.name ?? before.name;
  const key = keys.identity(before.team_uid, uid);
  const change = { key, set: { ...set, updated_at: ports.now() }, remove };
  const named = { ...before, owner: { type: "Team", uid: before.team_uid }, kind: NAME_KIND } as const;
  const changed = await changeNamed(named, name, change, taken, ports.table);
  if (!changed) return updateIdentity(uid, request, principal, ports);
  const item = await ports.table.get(key);
  if (item === undefined) throw notFound("identity");
  return { identity: parseIdentity(item), available: true };
}
