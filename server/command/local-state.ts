import path from "node:path";
import * as v from "valibot";
import { bootstrap } from "#shared/teams/bootstrap.ts";
import { readJson, writeJson } from "../../host/files.ts";
import type { ServerPorts } from "../ports.ts";

const FIRST_TEAM = { teamName: "Local team", displayName: "Local user", email: "local@example.com" };

/** The file local.json: where the server is, and a key for it. */
const LocalState = v.object({
  base_url: v.string(),
  web_url: v.string(),
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
}

/** `home` is the directory .runyard; `data` replaces it with one directory for everything. */
export function servePaths(home: string, data: string | undefined): ServePaths {
  const directory = data === undefined ? path.join(home, "data") : path.resolve(data);
  return {
    data: directory,
    localFile: path.join(data === undefined ? home : directory, "local.json"),
    log: path.join(directory, "logs", "server.log"),
  };
}

export const readLocalState = (file: string): Promise<LocalState | undefined> => readJson(file, LocalState);

/** Writes local.json. The key of the last start is kept while it is valid; else a team, its admin and a key are created. */
export async function saveLocalState(file: string, webUrl: string, ports: ServerPorts): Promise<LocalState> {
  const last = await readLocalState(file);
  const isKept = last !== undefined && (await isValid(last.api_key, ports));
  const { api_key, team_uid } = isKept ? last : await bootstrap(ports.table, Date.now(), FIRST_TEAM);
  const state = { base_url: `${webUrl}/api/v1`, web_url: webUrl, api_key, team_uid, pid: process.pid };
  await writeJson(file, state);
  return state;
}

const isValid = (key: string, { principals }: ServerPorts): Promise<boolean> =>
  principals.authenticate(`Bearer ${key}`, undefined).then(
    () => true,
    () => false,
  );
