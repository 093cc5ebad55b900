import { transactInScope } from "#shared/records/scope-transaction.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Put, Query, Table, TransactionWrite, Update } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { changeNamed, claimName, releaseName } from "#shared/table/unique-name.ts";
import { writeIf } from "#shared/table/write-if.ts";
import {
  type Environment,
  isOwnedBy,
  type LastRun,
  parseEnvironment,
  parseLastRun,
  type SetupOutcome,
} from "./environment.ts";
import { showSetupSnapshot } from "./setup-snapshot.ts";

const NAME_KIND = "environment";

type Attributes = Pick<Update, "set" | "remove">;

/** The latest run in an environment, and the setup snapshot that responses show. */
export interface EnvironmentUse {
  readonly lastRun: LastRun | undefined;
  readonly shown: ReturnType<typeof showSetupSnapshot>;
}

/** Reads an environment; undefined if it does not exist. A function of its own, so that creating a run carries no other. */
export async function readEnvironment(uid: string, table: Pick<Table, "get">): Promise<Environment | undefined> {
  const item = await table.get(keys.environment(uid));
  return item === undefined ? undefined : parseEnvironment(item);
}

/** Reads and changes of environments, with their names, their entries in the lists of scopes, their guests and their latest runs. */
export function environmentStore(table: Table) {
  return {
    /** Reads different environments; one that is not there is left out. */
    async getMany(uids: readonly string[]): Promise<Environment[]> {
      const items = await batchGetAll(uids.map(keys.environment), table);
      return items.filter((item) => item !== undefined).map(parseEnvironment);
    },

    /** Returns the uids of the environments in the lists of the scopes: those that a scope owns or that are shared with it. */
    async listUids(scopes: readonly Owner[]): Promise<string[]> {
      const pages = await Promise.all(scopes.map((scope) => table.query(entriesIn(scope))));
      return pages.flatMap(({ items }) => items.map((item) => String(item["uid"])));
    },

    /** Reads the latest runs in different environments and their setup snapshots, in the order of the environments. */
    async lastRuns(uids: readonly string[]): Promise<EnvironmentUse[]> {
      const items = await batchGetAll(uids.map(keys.environmentRun), table);
      return items.map((item) => ({ lastRun: parseLastRun(item), shown: showSetupSnapshot(item) }));
    },

    /** Reads an environment with its latest run. */
    async getWithLastRun(uid: string): Promise<{ environment: Environment | undefined; lastRun: LastRun | undefined }> {
      const [item, last] = await table.batchGet([keys.environment(uid), keys.environmentRun(uid)]);
      return { environment: item === undefined ? undefined : parseEnvironment(item), lastRun: parseLastRun(last) };
    },

    /** @throws ConflictError if the `idempotency` record exists, or another environment of the scope has the name (`uniqueName`) */
    create(environment: Environment, idempotency: Put): Promise<void> {
      return transactInScope(environment.owner, { idempotency, ...newEnvironmentWrites(environment) }, table);
    },

    /**
     * Changes an environment, and its name to `name`.
     * @throws ConflictError if it was renamed or deleted since it was read; `taken` if another one of the scope has the name
     */
    update({ owner, uid, name: before }: Environment, name: string, change: Attributes, taken: () => Error) {
      const named = { owner, uid, name: before, kind: NAME_KIND };
      return changeNamed(named, name, { key: keys.environment(uid), ...change }, taken, table);
    },

    /** @throws ConflictError if the environment was renamed, deleted or shared since it was read */
    remove: (environment: Environment): Promise<void> => transact(table, namedRemoval(environment)),

    /** Records that the latest run could or could not be set up. Does nothing where a run that ended later has done so. */
    async noteSetup(uid: string, { failed, at }: SetupOutcome): Promise<void> {
      // The environment may be deleted, or a run that ended later recorded.
      await writeIf(table, {
        kind: "update",
        key: keys.environmentRun(uid),
        set: { setup_failed: failed, setup_at: at },
        if: { pk: { exists: true }, setup_at: { absentOr: { below: at } } },
      });
    },
  };
}

/** The entries of a scope's list of environments. */
export function entriesIn(scope: Owner): Pick<Query, "pk" | "prefix"> {
  const { pk, sk: prefix } = keys.environmentEntry(scope, "");
  return { pk, prefix };
}

/** Returns the write that adds an environment to the list of a scope: its owner's, or a guest's. */
export const putEntry = (scope: Owner, uid: string): Put => ({
  kind: "put",
  item: { ...keys.environmentEntry(scope, uid), v: 1, uid },
});

export const deleteEntry = (scope: Owner, uid: string): TransactionWrite => ({
  kind: "delete",
  key: keys.environmentEntry(scope, uid),
});

function newEnvironmentWrites({ guests: _, ...environment }: Environment): NamedWrites {
  const { uid, owner, name } = environment;
  return {
    uniqueName: claimName(owner, NAME_KIND, name, uid),
    environment: {
      kind: "put",
      item: { ...keys.environment(uid), v: 1, ...environment },
      if: { pk: { exists: false } },
    },
    lastRun: { kind: "put", item: { ...keys.environmentRun(uid), v: 1 } },
    entry: putEntry(owner, uid),
  };
}

function namedRemoval({ uid, owner, name, guests }: Environment) {
  const guestCount = guests.size === 0 ? { absentOr: { eq: 0 } } : { eq: guests.size };
  return {
    environment: {
      kind: "delete",
      key: keys.environment(uid),
      if: { name: { eq: name }, guests: guestCount },
    },
    lastRun: { kind: "delete", key: keys.environmentRun(uid) },
    entry: deleteEntry(owner, uid),
    uniqueName: releaseName(owner, NAME_KIND, name, uid),
    guestEntries: [...guests].map((guest) => deleteEntry({ type: "User", uid: guest }, uid)),
  } as const satisfies NamedWrites;
}

/** Returns the writes that delete an environment and everything that belongs to it. */
export const environmentRemoval = (environment: Environment): TransactionWrite[] =>
  Object.values(namedRemoval(environment)).flat();

/**
 * Returns the write that makes a run the latest one of its environment; its condition fails where the environment is deleted. Only
 * a run of the environment's own scope is recorded: others are not visible to everyone who sees the environment.
 */
export function lastRunWrites(
  environment: Environment | undefined,
  owner: Owner,
  run: { readonly run_id: string; readonly title: string; readonly created_at: number },
): Update[] {
  if (environment === undefined || !isOwnedBy(environment, owner)) return [];
  return [{ kind: "update", key: keys.environmentRun(environment.uid), set: { ...run }, if: { pk: { exists: true } } }];
}

/** Returns the write that forgets a run that was deleted; its condition fails where another run is the latest one. */
export const forgetLastRun = (uid: string, runId: string): Update => ({
  kind: "update",
  key: keys.environmentRun(uid),
  remove: ["run_id", "title", "created_at"],
  if: { run_id: { eq: runId } },
});
