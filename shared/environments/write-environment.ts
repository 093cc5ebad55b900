import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { refuseMore } from "#shared/limits/scope-limit.ts";
import { checkFallbackModels } from "#shared/models/models.ts";
import { checkOutputSchema } from "#shared/output/check-output-schema.ts";
import type { PersonalPrincipal, Principal } from "#shared/principals/principal.ts";
import { resolveOwner, toCreator } from "#shared/principals/resolve-owner.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Value } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreateEnvironmentRequest, UpdateEnvironmentRequest } from "#shared/wire/environment.ts";
import { type Environment, parseEnvironment } from "./environment.ts";
import type { EnvironmentPorts } from "./environment-ports.ts";
import { entriesIn, environmentStore } from "./environment-store.ts";
import { findVisibleEnvironment } from "./read-environments.ts";
import { changedRepositories } from "./repositories.ts";

/** Bytes of an environment: its setup commands go into each of its runs. */
const ENVIRONMENT_BYTES = 64 * 1024;
/** Environments of a scope, including those that are shared with its person. */
const MAX_ENVIRONMENTS = 200;

const nameTaken = () =>
  new RunyardError("conflict", { detail: "name: another environment of the scope has this name", retryable: false });

interface Call<Request> {
  readonly body: Request;
  /** The body as the caller sent it. */
  readonly sentBody: unknown;
  readonly principal: PersonalPrincipal;
}

export interface CreatedEnvironment {
  readonly environment: Environment;
  readonly replayed: boolean;
}

/** Creates an environment once, under a name that is unique in its scope. */
export function addEnvironment(
  { body: request, sentBody, principal }: Call<CreateEnvironmentRequest>,
  once: IdempotentRequest,
  { table, now: clock }: EnvironmentPorts,
): Promise<CreatedEnvironment> {
  return runIdempotent<CreatedEnvironment>(
    table,
    once,
    clock,
    async (record) => {
      const owner = resolveOwner(request.team === undefined ? {} : { team: request.team }, principal);
      await refuseMore(entriesIn(owner), MAX_ENVIRONMENTS, "environments in the scope", table);
      refuseUnsupportedOptions(sentBody, "environments");
      const now = clock();
      const uid = uuidv7(now);
      const environment = toNewEnvironment({ uid, owner, created_at: now, creator: toCreator(principal) }, request);
      try {
        await environmentStore(table).create(environment, record(uid));
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : nameTaken();
      }
      return { environment, replayed: false };
    },
    async (uid) => {
      const environment = await findVisibleEnvironment(uid, principal, undefined, table);
      return { environment: toNewEnvironment(environment, request), replayed: true };
    },
  );
}

/** The environment as the request creates it, also for a repeat that comes after a change. */
function toNewEnvironment(
  { uid, owner, created_at, creator }: Pick<Environment, "uid" | "owner" | "created_at" | "creator">,
  request: CreateEnvironmentRequest,
): Environment {
  const fields = { uid, owner, name: request.name, created_at, updated_at: created_at, creator, last_editor: creator };
  return parseEnvironment({ ...fields, ...toChange(request, undefined).set });
}

const ENVIRONMENT_CHANGED = "the environment is";

/** Changes an environment: what the request leaves out stays as it was. */
export async function changeEnvironment(
  uid: string,
  call: Call<UpdateEnvironmentRequest>,
  ports: EnvironmentPorts,
): Promise<Environment> {
  const { body: request, sentBody, principal } = call;
  await retryOnConflict(ENVIRONMENT_CHANGED, async () => {
    const before = await findOwnEnvironment(uid, principal, ports);
    const { set, remove } = toChange(request, before);
    refuseUnsupportedOptions(sentBody, "environments");
    const name = request.name ?? before.name;
    const attributes = {
      set: { ...set, updated_at: ports.now(), last_editor: { ...toCreator(principal) } },
      remove,
    };
    await environmentStore(ports.table).update(before, name, attributes, nameTaken);
  });
  return findVisibleEnvironment(uid, principal, undefined, ports.table);
}

/**
 * Deletes an environment. Existing runs keep what they copied from it. An identity, a schedule or a team default that still names it
 * creates no run until it names another: the error says which environment is missing.
 */
export async function removeEnvironment(uid: string, principal: Principal, ports: EnvironmentPorts): Promise<void> {
  await retryOnConflict(ENVIRONMENT_CHANGED, async () => {
    const environment = await findOwnEnvironment(uid, principal, ports);
    await environmentStore(ports.table).remove(environment);
  });
}

/** Returns an environment that the caller may change; throws 404 where the caller does not see it, 403 where it is a guest. */
export async function findOwnEnvironment(
  uid: string,
  principal: Principal,
  { table }: Pick<EnvironmentPorts, "table">,
): Promise<Environment> {
  const environment = await findVisibleEnvironment(uid, principal, undefined, table);
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

/** Reads a request: an absent member or null changes nothing, an empty value removes what was set. */
function toChange(request: UpdateEnvironmentRequest, before: Environment | undefined): Change {
  const members: Record<string, Value | null | undefined> = {
    description: request.description,
    docker_image: request.docker_image,
    repositories: changedRepositories(request, before?.repositories ?? []),
    setup_commands: request.setup_commands,
    variables: request.variables,
    providers: request.providers,
    network: request.network?.mode === "open" ? {} : request.network,
    worker_host: request.worker_host,
    timeout_minutes: request.timeout_minutes,
    max_steps: request.max_steps,
    max_total_tokens: request.max_total_tokens,
    fallback_model_ids: request.fallback_model_ids,
    reasoning_level: request.reasoning_level,
    output_schema: request.output_schema,
    approvals: request.approvals,
    commit_author: request.commit_author,
    secrets: request.secrets?.map(({ name }) => name),
  };
  const entries = Object.entries(members).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, value] as const],
  );
  const set = Object.fromEntries(entries.filter(([, value]) => !isEmpty(value)));
  const remove = entries.filter(([, value]) => isEmpty(value)).map(([name]) => name);
  const after = { ...before, ...Object.fromEntries(remove.map((name) => [name, ""])), ...set };
  refuseConflicts(request, before);
  checkFallbackModels(request.fallback_model_ids ?? [], "fallback_model_ids");
  checkOutputSchema(request.output_schema, "output_schema");
  if (Buffer.byteLength(JSON.stringify(after)) > ENVIRONMENT_BYTES) {
    throw invalid("body", `an environment has at most ${ENVIRONMENT_BYTES} bytes as JSON`);
  }
  return { set, remove };
}

/** An empty text, list or map, or a limit of 0. */
const isEmpty = (value: Value): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length === 0 : value === "" || value === 0;

/** Refuses a name that would be a variable and a secret, and names the member that adds it. */
function refuseConflicts({ variables, secrets }: UpdateEnvironmentRequest, before: Environment | undefined): void {
  const names = secrets?.map(({ name }) => name) ?? before?.secrets ?? [];
  const plain = variables ?? before?.variables ?? {};
  const name = names.find((one) => Object.hasOwn(plain, one));
  if (name === undefined) return;
  if (variables != null) throw invalid(`variables.${name}`, "is also the name of a secret of the environment");
  throw invalid(`secrets[${names.indexOf(name)}].name`, "is also the name of a variable of the environment");
}
