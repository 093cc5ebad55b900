import path from "node:path";
import * as v from "valibot";
import { readJson, writeJson } from "../host/files.ts";
import { isLoopbackHost } from "../host/http/request-checks.ts";
import type { ServerPorts } from "../ports.ts";
import type { Server } from "../server.ts";
import { toSocketUrl } from "../sockets/socket-url.ts";

/** Port of the first start. */
export const DEFAULT_PORT = 4500;

/** The file local.json: where the server is, and a key for it. */
const LocalState = v.object({
  base_url: v.string(),
  web_url: v.string(),
  /** Port that the server listens on, which a proxy may hide. Absent in files of earlier releases. */
  port: v.exactOptional(v.number()),
  /** Where self-hosted workers connect. */
  ws_url: v.exactOptional(v.string()),
  api_key: v.string(),
  team_uid: v.string(),
  pid: v.number(),
});
export type LocalState = v.InferOutput<typeof LocalState>;

/** The files of an installation. */
export interface ServePaths {
  readonly data: string;
  readonly localFile: string;
  readonly log: string;
  /** What a server in the background prints, which is little; each start replaces it. */
  readonly consoleLog: string;
}

/** `home` is the directory .runyard; `data` replaces it with one directory for everything. */
export function servePaths(home: string, option: string | undefined): ServePaths {
  const data = option ?? (process.env["RUNYARD_DATA"] || undefined);
  const directory = data === undefined ? path.join(home, "data") : path.resolve(data);
  return {
    data: directory,
    localFile: path.join(data === undefined ? home : directory, "local.json"),
    log: path.join(directory, "logs", "server.log"),
    consoleLog: path.join(directory, "logs", "console.log"),
  };
}

export const readLocalState = (file: string): Promise<LocalState | undefined> => readJson(file, LocalState);

/** Returns the port that the server of the last start listened on, or that of the first start. */
export function findLastPort(last: LocalState | undefined): number {
  const url = URL.parse(last?.web_url ?? "");
  const local = url !== null && isLoopbackHost(url.host) ? Number(url.port) : 0;
  return last?.port ?? (local || DEFAULT_PORT);
}

/** Writes local.json. The key of the last start is kept while it is valid; else the admin of the installation gets a new one. */
export async function saveLocalState(
  file: string,
  { webUrl, port, server }: { readonly webUrl: string; readonly port: number; readonly server: Server },
): Promise<LocalState> {
  const last = await readLocalState(file);
  const isKept = last !== undefined && (await isValid(last.api_key, server.ports));
  const { api_key, team_uid } = isKept ? last : await server.createAdminKey();
  const state = {
    base_url: `${webUrl}/api/v1`,
    web_url: webUrl,
    port,
    ws_url: toSocketUrl(webUrl),
    api_key,
    team_uid,
    pid: process.pid,
  };
  await writeJson(file, state);
  return state;
}

const isValid = (key: string, { principals }: ServerPorts): Promise<boolean> =>
  principals.authenticate(`Bearer ${key}`, undefined).then(
    () => true,
    () => false,
  );
