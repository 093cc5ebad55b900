import { rm } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { readJson, writeJson } from "../host/files.ts";
import { isStillOurs, ProcessMark, readMark } from "../host/processes.ts";

/** The process that serves a data directory, as its file server.json names it. */
const ServiceProcess = v.object({
  process: ProcessMark,
  /** Address of the server on this machine, without a slash at its end. */
  local_url: v.string(),
  started_at: v.string(),
  isolation: v.string(),
  concurrency: v.number(),
  /** Absent where the default holds. */
  max_disk_bytes: v.exactOptional(v.number()),
});
type ServiceProcess = v.InferOutput<typeof ServiceProcess>;

const fileIn = (data: string): string => path.join(data, "server.json");

/** Records that this process serves a data directory. */
export async function recordProcess(
  data: string,
  about: Omit<ServiceProcess, "process" | "started_at">,
): Promise<void> {
  const own = await readMark(process.pid);
  if (own === undefined) return;
  await writeJson(fileIn(data), { process: own, started_at: new Date().toISOString(), ...about });
}

export const forgetProcess = (data: string): Promise<void> => rm(fileIn(data), { force: true });

/** The process that serves a data directory. `isRunning` is false if it ended without removing its record, such as by kill -9. */
export async function findProcess(
  data: string,
): Promise<{ readonly service: ServiceProcess; readonly isRunning: boolean } | undefined> {
  const service = await readJson(fileIn(data), ServiceProcess);
  return service === undefined ? undefined : { service, isRunning: await isStillOurs(service.process) };
}
