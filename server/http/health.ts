import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { logLine } from "#shared/log/log.ts";
import { isLoopbackHost } from "../host/http/request-checks.ts";
import type { Adapters } from "../ports.ts";
import { QUEUES } from "../queue/queue-names.ts";

/** Milliseconds in which a part of the service has to respond to count as ready. */
const CHECK_MS = 5_000;

export interface Readiness {
  readonly status: "ready" | "unavailable";
  /** Each part of the service with `ok`, or why it cannot work. */
  readonly checks: Readonly<Record<"table" | "files" | "queue" | "disk", string>>;
}

/** Checks the parts without which the service cannot take a run: its table, its files, its queue, and room on the disk. */
export async function checkReadiness({
  database,
  queues,
  disk,
  files: store,
}: Pick<Adapters, "database" | "queues" | "disk" | "files">): Promise<Readiness> {
  const [table, files, queue] = await Promise.all([
    check("table", () => database.read(() => database.statement("SELECT 1").get())),
    check("files", () => store.checkAccess()),
    check("queue", () => queues.depth(QUEUES.runs)),
  ]);
  const checks = { table, files, queue, disk: disk.findShortage() ?? "ok" };
  const isReady = Object.values(checks).every((result) => result === "ok");
  return { status: isReady ? "ready" : "unavailable", checks };
}

async function check(part: string, work: () => Promise<unknown>): Promise<string> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response within ${CHECK_MS / 1000} s`)), CHECK_MS);
  try {
    await Promise.race([work(), late.promise]);
    return "ok";
  } catch (error) {
    logLine("error", "a part of the service is not ready", { part, error });
    // Details of the machine are for its operator, who has the log.
    return "failed; see the log";
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns true for a request from this machine itself, and for one with the key of the metrics (`Authorization: Bearer …`). A
 * request that a reverse proxy passes on is not from this machine, though its connection is.
 */
export function mayReadMetrics({ headers, socket }: IncomingMessage, key: string | undefined): boolean {
  const credential = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (key && credential !== undefined) return timingSafeEqual(hash(credential), hash(key));
  const isForwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => headers[name] !== undefined);
  return !isForwarded && isLoopbackHost(headers.host) && isLoopbackAddress(socket.remoteAddress);
}

const hash = (text: string): Buffer => createHash("sha256").update(text).digest();

const isLoopbackAddress = (address = ""): boolean => isIP(address) !== 0 && /^(::1|(::ffff:)?127\.)/.test(address);
