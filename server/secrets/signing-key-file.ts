import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { KeySetStore } from "#shared/vault/key-set-store.ts";
import { syncPath } from "../disk/sync-path.ts";
import { isCode, requireOwnerOnly } from "./key-file.ts";

/** The name of the file in the data directory. */
export const SIGNING_KEY_FILE = "identity-keys.json";

/** The signing keys as a file that only the owner can read. Each change atomically replaces the file. */
export function signingKeyFile(file: string): KeySetStore {
  return {
    read: () => readKeys(file),
    async create(content) {
      const next = await writeBeside(file, content);
      try {
        // Unlike a rename, a link never replaces a file.
        await link(next, file);
        await syncPath(path.dirname(file));
        return true;
      } catch (error) {
        if (isCode(error, "EEXIST")) return false;
        throw error;
      } finally {
        await rm(next);
      }
    },
    async replace(content) {
      await rename(await writeBeside(file, content), file);
      await syncPath(path.dirname(file));
    },
  };
}

async function readKeys(file: string): Promise<string | undefined> {
  try {
    await using opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    requireOwnerOnly(await opened.stat(), file);
    return await opened.readFile("utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function writeBeside(file: string, content: string): Promise<string> {
  const beside = `${file}.${randomUUID()}`;
  await using opened = await open(beside, "wx", 0o600);
  await opened.writeFile(content);
  await opened.sync();
  return beside;
}
