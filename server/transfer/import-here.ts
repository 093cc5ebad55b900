import path from "node:path";
import * as v from "valibot";
import { createDirectory } from "../disk/create-directory.ts";
import { openAdapters } from "../ports.ts";
import { copyTree } from "./copy-tree.ts";
import { FILES, readManifest } from "./export-format.ts";
import { type Imported, importData } from "./import.ts";

const Count = v.object({ items: v.number() });

/**
 * Imports an export into a data directory.
 * @throws DatabaseInUse if a service runs on it
 */
export async function importHere(from: string, data: string): Promise<Imported> {
  // An export that cannot be read leaves nothing behind.
  await readManifest(from);
  createDirectory(data);
  const { database, table } = await openAdapters(data);
  try {
    const target = {
      name: data,
      table,
      isEmpty: async () => {
        const row = await database.read(() => database.statement("SELECT count(*) AS items FROM items").get());
        return v.parse(Count, row).items === 0;
      },
      storeFiles: async (directory: string) =>
        (await copyTree(path.join(directory, FILES), path.join(data, "files", "objects"))).files,
    };
    return await importData(from, target, Date.now);
  } finally {
    await database.close();
  }
}
