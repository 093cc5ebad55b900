import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { refuseMore } from "#shared/limits/scope-limit.ts";
import type { PersonalPrincipal, Principal } from "#shared/principals/principal.ts";
import { resolveOwner, toCreator } from "#shared/principals/resolve-owner.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { ConditionFailed, type TransactionWrite, type Value } from "#shared/table/table.ts";
import { changeNamed, releaseName } from "#shared/table/unique-name.ts";
import type { CreateEnvironmentRequest, UpdateEnvironmentRequest } from "#shared/wire/environment.ts";
import { claimEnvironmentName, type Environment, NAME_KIND, parseEnvironment, putEntry } from "./environment.ts";
import type { EnvironmentPorts } from "./ports.ts";
import { visibleEnvironment } from "./read-environments.ts";
import { changedRepositories } from "./repositories.ts";

/** Bytes of an environment: its setup commands go into each of its runs. */
const ENVIRONMENT_BYTES = 64 * 1024;
/** Environments of a scope, those among them that are shared with the person whose scope it is. */
const MAX_ENVIRONMENTS = 200;
const ATTEMPTS = 8;

const taken = () =>
  new RunyardError("conflict", { detail: "name: another environment of the scope has this name", retryable: false });

export interface CreatedEnvironment {
  readonly environment: Environment;
  readonly replayed: boolean;
}

/** Creates an environment once, under a name that no other of its scope has. */
export function createEnvironment(
  request: CreateEnvironmentRequest,
  principal: PersonalPrincipal,
  once: IdempotentRequest,
  { table, now: clock }: EnvironmentPorts,
): Promise<CreatedEnvironment> {
  return runIdempotent<CreatedEnvironment>(
    table,
    once,
    clock,
    async (record) => {
      const owner = resolveOwner(request.team === undefined ? {} : { team: request.team }, principal, undefined);
      const { pk, sk: prefix } = keys.environmentEntry(owner, "");
      await refuseMore({ pk, prefix }, MAX_ENVIRONMENTS, "environments in the scope", table);
      const now = clock();
      const uid = uuidv7(now);
      const by = toCreator(principal);
      const given = { uid, owner, name: request.name, created_at: now, updated_at: now, creator: by, last_editor: by };
      const item = { ...keys.environment(uid), v: 1, ...given, ...changeOf(request, undefined).set };
      const environment = parseEnvironment(item);
      await write(owner, [
        record(uid),
        claimEnvironmentName(environment),
        { kind: "put", item, if: { pk: { exists: false } } },
        { kind: "put", item: { ...keys.environmentRun(uid), v: 1 } },
        putEntry(owner, uid),
      ]);
      return { environment, replayed: false };
    },
    async (uid) => ({ environment: await visibleEnvironment(uid, principal, undefined, table), replayed: true }),
  );

  async function write(owner: Owner, writes: readonly TransactionWrite[]): Promise<void> {
    try {
      await transactInScope(owner, writes, table);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      throw error.positions.includes(0) ? new IdempotencyRecordExists() : taken();
    }
  }
}

/** Changes an environment: what the request does not say stays as it was. */
export async function updateEnvironment(
  uid: string,
  request: UpdateEnvironmentRequest,
  principal: PersonalPrincipal,
  ports: EnvironmentPorts,
): Promise<Environment> {
  const before = await ownEnvironment(uid, principal, ports);
  const { set, remove } = changeOf(request, before);
  const name = request.name ?? before.name;
  const change = {
    key: keys.environment(uid),
    set: { ...set, updated_at: ports.now(), last_editor: { ...toCreator(principal) } },
    remove,
  };
  const changed = await changeNamed({ ...before, kind: NAME_KIND }, name, change, taken, ports.table);
  if (!changed) return updateEnvironment(uid, request, principal, ports);
  return visibleEnvironment(uid, principal, undefined, ports.table);
}

/**
 * Deletes an environment. Runs that were made keep what they took over from it; what still names it, an identity, a
 * schedule or the team's default, makes no run until it names another: the refusal says which environment is missing.
 */
export async function deleteEnvironment(uid: string, principal: Principal, ports: EnvironmentPorts): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const environment = await ownEnvironment(uid, principal, ports);
    try {
      return await ports.table.transact(environmentRemoval(environment));
    } catch (error) {
      // Somebody renamed it meanwhile, or has another guest in it.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
  throw retryableConflict("the environment changes too fast; send the request again");
}

/** The writes that remove an environment and all that is its. */
export function environmentRemoval({ uid, owner, name, guests }: Environment): TransactionWrite[] {
  return [
    { kind: "delete", key: keys.environment(uid), if: { name: { eq: name }, guests: guestCount(guests.size) } },
    { kind: "delete", key: keys.environmentRun(uid) },
    { kind: "delete", key: keys.environmentEntry(owner, uid) },
    releaseName(owner, NAME_KIND, name, uid),
    ...[...guests].map((guest): TransactionWrite => {
      return { kind: "delete", key: keys.environmentEntry({ type: "User", uid: guest }, uid) };
    }),
  ];
}

const guestCount = (guests: number) => (guests === 0 ? { absentOr: { eq: 0 } } : { eq: guests });

/** The environment, if the caller may change it: 404 where it sees none, 403 where it is a guest. */
export async function ownEnvironment(
  uid: string,
  principal: Principal,
  { table }: Pick<EnvironmentPorts, "table">,
): Promise<Environment> {
  const environment = await visibleEnvironment(uid, principal, undefined, table);
  if (principal.kind !== "personal") throw notFound("environment");
  const { owner } = environment;
  const isOwn = owner.type === "User" ? owner.uid === principal.user.uid : isMember(principal, owner.uid);
  if (!isOwn)
    throw new RunyardError("not_authorized", { detail: "the environment is shared with you to read and use" });
  return environment;
}

const isMember = ({ teams }: PersonalPrincipal, team: string): boolean => teams.some(({ uid }) => uid === team);

interface Change {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
}

/** Reads a request: absent or null says nothing, an empty value clears. */
function changeOf(request: UpdateEnvironmentRequest, before: Environment | undefined): Change {
  const given: Record<string, string | readonly Value[] | null | undefined> = {
    description: request.description,
    docker_image: request.docker_image,
    repositories: changedRepositories(request, before?.repositories ?? []),
    setup_commands: request.setup_commands,
    secrets: request.secrets?.map(({ name }) => name),
  };
  const entries = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, value] as const],
  );
  const set = Object.fromEntries(entries.filter(([, value]) => value.length > 0));
  const remove = entries.filter(([, value]) => value.length === 0).map(([name]) => name);
  const after = { ...before, ...Object.fromEntries(remove.map((name) => [name, ""])), ...set };
  if (Buffer.byteLength(JSON.stringify(after)) > ENVIRONMENT_BYTES) {
    throw invalid("body", `an environment has at most ${ENVIRONMENT_BYTES} bytes as JSON`);
  }
  return { set, remove };
}
