import { AsyncLocalStorage } from "node:async_hooks";
import { FILE_PATTERNS, type Rights } from "#infra/rights.ts";
import type { FileStore } from "#shared/files/file-store.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";

/**
 * What AWS does and no emulator here does: a function that uses a right it was not given is refused. Whoever calls a function's code
 * in a test says by `withRights` whose rights it has; outside of that, a test's own reads and writes are free.
 */
interface Acting {
  readonly name: string;
  readonly rights: Rights;
}
const acting = new AsyncLocalStorage<Acting>();

/** The function that is at work; undefined for what a test does itself. */
export const actingName = (): string | undefined => acting.getStore()?.name;

/** A right that a function lacked: no error of the service, and none that it may handle. */
export class RightMissing extends Error {}

/** Rights that were missing and have not been told of: the service's code may make an answer of the error, or pass over it. */
const missing: string[] = [];

/**
 * Runs `work` with the rights of the function `name`, and no others. Throws RightMissing where it lacked one, whatever it made of
 * that itself; what is missed while it streams its answer is thrown by the next call.
 */
export async function withRights<T>(name: string, rights: Rights, work: () => Promise<T>): Promise<T> {
  const response = await acting.run({ name, rights }, work).catch((error: unknown) => {
    tellMissing();
    throw error;
  });
  tellMissing();
  return response;
}

function tellMissing(): void {
  if (missing.length > 0) throw new RightMissing(missing.splice(0).join(", "));
}

/** Rights, but for those on files, that were used since the tests of a file began: by the name of the function, `table: GetItem`. */
export const usedRights = new Map<string, Set<string>>();

function need(resource: Exclude<keyof Rights, "bucket">, action: string): void {
  const who = acting.getStore();
  if (who !== undefined) {
    usedRights.set(who.name, (usedRights.get(who.name) ?? new Set()).add(`${resource}: ${action}`));
  }
  const granted: readonly string[] = who?.rights[resource] ?? [];
  if (who === undefined || granted.includes(action)) return;
  missing.push(`${who.name} lacks ${resource}: ${action}`);
  throw new RightMissing(missing.at(-1));
}

/** Uses of files since the tests of a file began: by the name of the function, `GetObject transcript`. */
export const usedFiles = new Map<string, Set<string>>();

/** The kinds of files whose pattern matches a key, as IAM matches: `*` stands for any characters, slashes too. */
export const matchFileKinds = (key: string): string[] =>
  Object.entries(FILE_PATTERNS).flatMap(([kind, pattern]) => (matchesGlob(key, pattern) ? [kind] : []));

function matchesGlob(key: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*").map((part) => RegExp.escape(part));
  return new RegExp(`^${[first, ...rest].join(".*")}$`, "s").test(key);
}

/** A file is used by a right on its kind; keys that are of no kind can be used by no function. */
function needFile(action: "GetObject" | "PutObject", key: string): void {
  const who = acting.getStore();
  if (who === undefined) return;
  const kinds = matchFileKinds(key);
  const uses = usedFiles.get(who.name) ?? new Set();
  for (const kind of kinds) uses.add(`${action} ${kind}`);
  usedFiles.set(who.name, uses);
  const granted: readonly string[] = who.rights.bucket?.[action] ?? [];
  if (kinds.some((kind) => granted.includes(kind))) return;
  missing.push(`${who.name} lacks bucket: ${action} ${kinds[0] ?? key}`);
  throw new RightMissing(missing.at(-1));
}

const WRITES = { put: "PutItem", update: "UpdateItem", delete: "DeleteItem", check: "ConditionCheckItem" } as const;

const needWrites = (writes: readonly TransactionWrite[]): void => {
  for (const write of writes) {
    if (isWatch(write)) need("watch", "UpdateItem");
    else need("table", WRITES[write.kind]);
  }
};

/** The update that a right of its own allows; see grants.ts. */
const isWatch = (write: TransactionWrite): boolean =>
  write.kind === "update" && Object.keys(write.set ?? {}).join() === "watched_at";

/** The table as the acting function may use it. */
export function tableWithinRights<T extends Table>(table: T): T {
  return {
    ...table,
    async get(key) {
      need("table", "GetItem");
      return table.get(key);
    },
    async batchGet(keys) {
      if (keys.length > 0) need("table", "BatchGetItem");
      return table.batchGet(keys);
    },
    async query(query) {
      need("table", "Query");
      if (query.index !== undefined) need("indexes", query.index);
      return table.query(query);
    },
    async write(write) {
      needWrites([write]);
      return table.write(write);
    },
    async transact(writes) {
      needWrites(writes);
      return table.transact(writes);
    },
  };
}

/** The table of live output as the acting function may use it. */
export const liveTableWithinRights = ({ get, write }: Table): Pick<Table, "get" | "write"> => ({
  async get(key) {
    need("live", "GetItem");
    return get(key);
  },
  async write(change) {
    need("live", WRITES[change.kind]);
    return write(change);
  },
});

/** The files as the acting function may use them; a signed URL can do what its signer can. */
export function filesWithinRights<T extends FileStore>(files: T): T {
  return {
    ...files,
    async put(key, content, contentType) {
      needFile("PutObject", key);
      return files.put(key, content, contentType);
    },
    async copy(from, to) {
      needFile("GetObject", from);
      needFile("PutObject", to);
      return files.copy(from, to);
    },
    async get(key) {
      needFile("GetObject", key);
      return files.get(key);
    },
    async size(key) {
      needFile("GetObject", key);
      return files.size(key);
    },
    async downloadUrl(key, file) {
      needFile("GetObject", key);
      return files.downloadUrl(key, file);
    },
    async uploadTarget(key, file) {
      needFile("PutObject", key);
      return files.uploadTarget(key, file);
    },
    async uploadForm(key, file) {
      needFile("PutObject", key);
      return files.uploadForm(key, file);
    },
  };
}

/** The queues as the acting function may use them. */
export const queueWithinRights = (queue: RunQueue): RunQueue => ({
  async sendRun(runId, owner, delaySeconds) {
    need("runsQueue", "SendMessage");
    return queue.sendRun(runId, owner, delaySeconds);
  },
  async sendEnd(runId, owner) {
    need("endsQueue", "SendMessage");
    return queue.sendEnd(runId, owner);
  },
});

/** The sandboxes as the acting function may use them; those that are functions are called by a right of their own. */
export const sandboxWithinRights = (sandbox: Sandbox): Sandbox => ({
  async start(envelope, choice) {
    if (choice.provider === "lambda") need("sandbox", "InvokeFunction");
    else need("sandboxes", "start");
    return sandbox.start(envelope, choice);
  },
  async stop(placed) {
    need("sandboxes", "stop");
    return sandbox.stop(placed);
  },
});

/** The sockets of workers as the acting function may use them. */
export const socketsWithinRights = (sockets: WorkerSockets): WorkerSockets => ({
  async post(connectionId, frame) {
    need("workerSockets", "ManageConnections");
    return sockets.post(connectionId, frame);
  },
  async close(connectionId) {
    need("workerSockets", "ManageConnections");
    return sockets.close(connectionId);
  },
});
