import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { projectRoot } from "../host/paths.ts";

/** Bytes of all scripts of the web page, each gzipped by itself, as a browser fetches them. */
export async function webScriptBytes(): Promise<number> {
  const folder = path.join(projectRoot, "web");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  const files = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0);
}
