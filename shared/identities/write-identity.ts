import { refuseOthersEnvironment } from "#shared/environments/team-environment.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { type Identity, parseIdentity } from "#shared/records/identity.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreateIdentityRequest, UpdateIdentityRequest } from "#shared/wire/identity.ts";
import { toIdentityChange } from "./identity-change.ts";
import type { IdentityPorts } from "./identity-ports.ts";
import { type FoundIdentity, identityStore } from "./identity-store.ts";
import { readIdentity, refuseUnavailable } from "./read-identities.ts";
import { requireScopesOfKeys } from "./scopes-of-keys.ts";

const nameTaken = () =>
  new RunyardError("conflict", { detail: "name: another identity of the team has this name", retryable: false });

/** A request, and its body as the caller sent it. */
interface Sent<Request> {
  readonly body: Request;
  readonly sentBody: unknown;
}

export interface CreatedIdentity {
  readonly found: FoundIdentity;
  readonly replayed: boolean;
}

/** Creates an identity once, within the plan's limit and under a name that is unique in the team. */
export function addIdentity(
  team: string,
  { body: request, sentBody }: Sent<CreateIdentityRequest>,
  idempotency: IdempotentRequest,
  { table, now: clock }: IdentityPorts,
): Promise<CreatedIdentity> {
  return runIdempotent<CreatedIdentity>(
    table,
    idempotency,
    clock,
    async (record) => {
      await refuseOthersEnvironment(request.environment_id, team, "environment_id", table);
      refuseUnsupportedOptions(sentBody, "identities");
      const now = clock();
      const uid = uuidv7(now);
      const identity = toNewIdentity({ uid, team_uid: team, created_at: now }, request);
      await storeIdentity(identity, record(uid), table);
      return { found: { identity, available: true }, replayed: false };
    },
    async (uid) => {
      const found = await identityStore(table).find([team], uid);
      if (found === undefined) {
        throw new RunyardError("conflict", {
          detail: "Idempotency-Key: the identity that it created is deleted; use a new key to create another",
          retryable: false,
        });
      }
      return { found: { identity: toNewIdentity(found.identity, request), available: true }, replayed: true };
    },
  );
}

/** The identity as the request creates it, also for a repeat that comes after a change. */
function toNewIdentity(
  { uid, team_uid, created_at }: Pick<Identity, "uid" | "team_uid" | "created_at">,
  request: CreateIdentityRequest,
): Identity {
  const fields = { uid, team_uid, name: request.name, created_at, updated_at: created_at };
  return parseIdentity({ ...fields, ...toIdentityChange(request, undefined).set });
}

async function storeIdentity(identity: Identity, record: Put, table: Table): Promise<void> {
  try {
    await identityStore(table).create(identity, record);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
    if (error.failed.has("name")) throw nameTaken();
    throw new RunyardError("feature_not_available", {
      detail: "the team has as many identities as its plan allows; delete one, or raise identity_limit",
    });
  }
}

/** Changes an identity; attributes that the request leaves out stay as they are. */
export async function changeIdentity(
  uid: string,
  call: Sent<UpdateIdentityRequest> & { readonly principal: Principal },
  ports: IdentityPorts,
): Promise<FoundIdentity> {
  const { body: request, sentBody } = call;
  const store = identityStore(ports.table);
  const before = await retryOnConflict("the identity is", async () => {
    const found = await readIdentity(uid, call.principal, ports.table);
    refuseUnavailable(found);
    const { identity } = found;
    await requireScopesOfKeys(identity, call.principal, ports.table);
    const { set, remove } = toIdentityChange(request, identity);
    await refuseOthersEnvironment(request.environment_id, identity.team_uid, "environment_id", ports.table);
    refuseUnsupportedOptions(sentBody, "identities");
    const change = { set: { ...set, updated_at: ports.now() }, remove };
    await store.update(identity, request.name ?? identity.name, change, nameTaken);
    return identity;
  });
  const identity = await store.get(before.team_uid, uid);
  if (identity === undefined) throw notFound("identity");
  return { identity, available: true };
}
