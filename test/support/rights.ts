import { AsyncLocalStorage } from "node:async_hooks";
import { FILE_PATTERNS, type Rights } from "#infra/rights.ts";
import type { FileRemoval, FileStore } from "#shared/files/file-store.ts";
import type { EventQueue } from "#shared/queue/event-queue.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";
import type { KeySetStore } from "#shared/vault/key-set-store.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/**
 * Refuses a function the rights that it was not granted, as AWS does and the emulators do not. A test calls a function's code
 * through `withRights`, which sets the rights. The test's own reads and writes are not restricted.
 */
interface Acting {
  readonly name: string;
  readonly rights: Rights;
}
const acting = new AsyncLocalStorage<Acting>();

/** The running function; undefined for calls of the test itself. */
export const actingName = (): string | undefined => acting.getStore()?.name;

/** A function lacked a right. This is not an error that the service may handle. */
export class RightMissing extends Error {}

/** Missing rights that were not reported yet, because the service's code may turn the error into a response or ignore it. */
const missing: string[] = [];

/**
 * Runs `work` with the rights of the function `name`, and no others. Throws RightMissing if it lacked one, even if it handled
 * that error. If it lacked one while it streamed its response, the next call throws.
 */
export async function withRights<T>(name: string, rights: Rights, work: () => Promise<T>): Promise<T> {
  const response = await acting.run({ name, rights }, work).catch((error: unknown) => {
    throwIfMissing();
    throw error;
  });
  throwIfMissing();
  return response;
}

function throwIfMissing(): void {
  if (missing.length > 0) throw new RightMissing(missing.splice(0).join(", "));
}

/** Rights, except those on files, that the tests of a file have used: by the function's name, as `table: GetItem`. */
export const usedRights = new Map<string, Set<string>>();

function requireRight(resource: Exclude<keyof Rights, "bucket">, action: string): void {
  const who = acting.getStore();
  if (who !== undefined) {
    usedRights.set(who.name, (usedRights.get(who.name) ?? new Set()).add(`${resource}: ${action}`));
  }
  const granted: readonly string[] = who?.rights[resource] ?? [];
  if (who === undefined || granted.includes(action)) return;
  missing.push(`${who.name} lacks ${resource}: ${action}`);
  throw new RightMissing(missing.at(-1));
}

/** Rights on files that the tests of a file have used: by the function's name, as `GetObject transcript`. */
export const usedFiles = new Map<string, Set<string>>();

/** The kinds of files whose pattern matches a key. As in IAM, `*` matches any characters, including slashes. */
export const matchFileKinds = (key: string): string[] =>
  Object.entries(FILE_PATTERNS).flatMap(([kind, pattern]) => (matchesGlob(key, pattern) ? [kind] : []));

function matchesGlob(key: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*").map((part) => RegExp.escape(part));
  return new RegExp(`^${[first, ...rest].join(".*")}$`, "s").test(key);
}

/** Requires a right on the file's kind. No function may use a key that is of no kind. */
function requireFileRight(action: "GetObject" | "PutObject" | "DeleteObject", key: string): void {
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

/** Requires the right to list the keys with a prefix. */
function requireListRight(prefix: string): void {
  const who = acting.getStore();
  if (who === undefined) return;
  const patterns = who.rights.bucket?.ListBucket ?? [];
  const granted = patterns.filter((pattern) => matchesGlob(prefix, pattern));
  const uses = usedFiles.get(who.name) ?? new Set();
  for (const pattern of granted) uses.add(`ListBucket ${pattern}`);
  usedFiles.set(who.name, uses);
  if (granted.length > 0) return;
  missing.push(`${who.name} lacks bucket: ListBucket ${prefix}`);
  throw new RightMissing(missing.at(-1));
}

const WRITES = { put: "PutItem", update: "UpdateItem", delete: "DeleteItem", check: "ConditionCheckItem" } as const;

const requireWriteRights = (writes: readonly TransactionWrite[]): void => {
  for (const write of writes) {
    if (isWatch(write)) requireRight("watch", "UpdateItem");
    else if (isAudit(write) && acting.getStore()?.rights.refusals) requireRight("refusals", WRITES[write.kind]);
    else requireRight("table", WRITES[write.kind]);
  }
};

/** True for the update that a separate right allows; see grants.ts. */
const isWatch = (write: TransactionWrite): boolean =>
  write.kind === "update" && Object.keys(write.set ?? {}).join() === "watched_at";

/** True for what the right to record refused requests is limited to. */
const isAudit = (write: TransactionWrite): boolean =>
  (write.kind === "put" ? write.item : write.key).pk.startsWith("AUDIT#");

/** The table as the acting function may use it. */
export function tableWithinRights<T extends Table>(table: T): T {
  return {
    ...table,
    async get(key) {
      requireRight("table", "GetItem");
      return table.get(key);
    },
    async batchGet(keys) {
      if (keys.length > 0) requireRight("table", "BatchGetItem");
      return table.batchGet(keys);
    },
    async query(query) {
      requireRight("table", "Query");
      if (query.index !== undefined) requireRight("indexes", query.index);
      return table.query(query);
    },
    async write(write) {
      requireWriteRights([write]);
      return table.write(write);
    },
    async transact(writes) {
      requireWriteRights(writes);
      return table.transact(writes);
    },
  };
}

/** The table of live output as the acting function may use it. */
export const liveTableWithinRights = ({ get, write }: Table): Pick<Table, "get" | "write"> => ({
  async get(key) {
    requireRight("live", "GetItem");
    return get(key);
  },
  async write(change) {
    requireRight("live", WRITES[change.kind]);
    return write(change);
  },
});

/** The files as the acting function may use them; a signed URL has the rights of its signer. */
export function filesWithinRights<T extends FileStore & FileRemoval & { readonly files: ReadonlyMap<string, unknown> }>(
  files: T,
): T {
  return {
    ...files,
    async put(key, content, contentType) {
      requireFileRight("PutObject", key);
      return files.put(key, content, contentType);
    },
    async copy(from, to) {
      requireFileRight("GetObject", from);
      requireFileRight("PutObject", to);
      return files.copy(from, to);
    },
    async get(key) {
      requireFileRight("GetObject", key);
      return files.get(key);
    },
    async size(key) {
      requireFileRight("GetObject", key);
      return files.size(key);
    },
    async remove(key) {
      requireFileRight("DeleteObject", key);
      return files.remove(key);
    },
    async removeAll(prefix, kept) {
      requireListRight(prefix);
      for (const key of files.files.keys()) if (key.startsWith(prefix)) requireFileRight("DeleteObject", key);
      return files.removeAll(prefix, kept);
    },
    async downloadUrl(key, file) {
      requireFileRight("GetObject", key);
      return files.downloadUrl(key, file);
    },
    async uploadTarget(key, file) {
      requireFileRight("PutObject", key);
      return files.uploadTarget(key, file);
    },
    async uploadUrl(key, file) {
      requireFileRight("PutObject", key);
      return files.uploadUrl(key, file);
    },
    async uploadForm(key, file) {
      requireFileRight("PutObject", key);
      return files.uploadForm(key, file);
    },
  };
}

/** The queues as the acting function may use them. */
export const queueWithinRights = (queue: RunQueue): RunQueue => ({
  async sendRun(runId, owner, delaySeconds) {
    requireRight("runsQueue", "SendMessage");
    return queue.sendRun(runId, owner, delaySeconds);
  },
  async sendEnd(runId, owner) {
    requireRight("endsQueue", "SendMessage");
    return queue.sendEnd(runId, owner);
  },
});

/** The queue of events as the acting function may use it. */
export const eventsWithinRights = (events: EventQueue): EventQueue => ({
  async sendDelivery(delivery) {
    requireRight("eventsQueue", "SendMessage");
    return events.sendDelivery(delivery);
  },
});

/** Encrypted values are items of the table, on which some functions have no other right. */
function requireVaultRead(): void {
  const isAlone = acting.getStore()?.rights.vault !== undefined;
  requireRight(isAlone ? "vault" : "table", "BatchGetItem");
}

/** The signing secrets of webhooks as the acting function may use them. */
export function webhookSecretsWithinRights<T extends SecretVault>(vault: T): T {
  return {
    ...vault,
    async put(team, id, value) {
      requireRight("table", "PutItem");
      requireRight("webhookSecretsKey", "GetParameter");
      requireRight("webhookSecretsKey", "PutParameter");
      return vault.put(team, id, value);
    },
    async getAll(team, ids) {
      requireVaultRead();
      requireRight("webhookSecretsKey", "GetParameter");
      requireRight("webhookSecrets", "GetParameters");
      return vault.getAll(team, ids);
    },
    async remove(team, id) {
      requireRight("table", "DeleteItem");
      requireRight("webhookSecrets", "DeleteParameter");
      return vault.remove(team, id);
    },
  };
}

/** The keys that sign identity tokens as the acting function may use them. */
export const signingKeysWithinRights = (keySet: KeySetStore): KeySetStore => ({
  async read() {
    requireRight("identityKeys", "GetParameter");
    return keySet.read();
  },
  async create(content) {
    requireRight("identityKeys", "PutParameter");
    return keySet.create(content);
  },
  async replace(content) {
    requireRight("identityKeys", "PutParameter");
    return keySet.replace(content);
  },
});

/** Checks the right to call the functions of webhooks. */
export const requireWebhookCall = (right: "webhookAttempts" | "webhookSender"): void =>
  requireRight(right, "InvokeFunction");

/** Checks the right to call the function that calls other systems. */
export const requireSystemCall = (): void => requireRight("systems", "InvokeFunction");

/** The values of secrets as the acting function may use them. */
export function vaultWithinRights<T extends SecretVault>(vault: T): T {
  return {
    ...vault,
    async put(team, id, value) {
      requireRight("table", "PutItem");
      requireRight("secretsKey", "GetParameter");
      requireRight("secretsKey", "PutParameter");
      return vault.put(team, id, value);
    },
    async replace(team, id, value) {
      requireRight("table", "UpdateItem");
      requireRight("secretsKey", "GetParameter");
      return vault.replace(team, id, value);
    },
    async getAll(team, ids) {
      requireVaultRead();
      requireRight("secretsKey", "GetParameter");
      requireRight("secrets", "GetParameters");
      return vault.getAll(team, ids);
    },
    async remove(team, id) {
      requireRight("table", "DeleteItem");
      requireRight("secrets", "DeleteParameter");
      return vault.remove(team, id);
    },
  };
}

/** The sandboxes as the acting function may use them; those that are functions need a separate right. */
export const sandboxWithinRights = (sandbox: Sandbox): Sandbox => ({
  async start(envelope, choice) {
    if (choice.provider === "lambda") requireRight("sandbox", "InvokeFunction");
    else requireRight("sandboxes", "start");
    return sandbox.start(envelope, choice);
  },
  async stop(placed) {
    requireRight("sandboxes", "stop");
    return sandbox.stop(placed);
  },
});

/** The sockets of workers as the acting function may use them. */
export const socketsWithinRights = (sockets: WorkerSockets): WorkerSockets => ({
  async post(connectionId, frame) {
    requireRight("workerSockets", "ManageConnections");
    return sockets.post(connectionId, frame);
  },
  async close(connectionId) {
    requireRight("workerSockets", "ManageConnections");
    return sockets.close(connectionId);
  },
});
