import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { Problem } from "./problem.ts";

/** Reads a JSON file through its schema; undefined if there is no file. */
export async function readJsonFile<S extends v.GenericSchema>(
  file: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (parsed.success) return parsed.output;
  throw new Problem(`${file} is invalid: ${parsed.issues[0].message}`);
}

/** Replaces a file in one step; only its owner may read it, from the first byte on. */
export async function writePrivately(file: string, value: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}

/** Removes a file, and returns whether there was one. */
export async function removeFile(file: string): Promise<boolean> {
  try {
    await rm(file);
    return true;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return false;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
