import * as v from "valibot";
import { SnapshotFile } from "#shared/records/checkpoint.ts";
import type { Owner } from "#shared/table/keys.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { SnapshotClone } from "#shared/wire/executions/setup-snapshot.ts";
import { isOwnedBy, parseEnvironment } from "./environment.ts";
import { ShownSnapshot } from "./setup-snapshot.ts";

/**
 * The files that the setup of an environment made, with which runs start whose setup would have the same inputs. It is stored with the
 * environment's latest run.
 */
const SetupSnapshot = v.object({
  ...ShownSnapshot.entries,
  /** Digests of what it was made of, and of the machine. */
  inputs: v.string(),
  platform: v.string(),
  clones: v.array(SnapshotClone),
  files: v.array(SnapshotFile),
});
type SetupSnapshot = v.InferOutput<typeof SetupSnapshot>;

const WithSnapshot = v.object({ setup_snapshot: v.exactOptional(SetupSnapshot) });

/** The setup snapshot of an environment. A run in an environment of another owner has none. */
export function setupSnapshotStore(uid: string, owner: Owner, table: Pick<Table, "batchGet" | "write">) {
  /** Undefined if the environment does not belong to the owner. */
  const readUse = async () => {
    const [item, use] = await table.batchGet([keys.environment(uid), keys.environmentRun(uid)]);
    return item !== undefined && isOwnedBy(parseEnvironment(item), owner) ? use : undefined;
  };
  return {
    async read(): Promise<SetupSnapshot | undefined> {
      const use = await readUse();
      return use === undefined ? undefined : v.parse(WithSnapshot, use).setup_snapshot;
    },

    /** Replaces it. Does nothing if the environment does not belong to the owner, or is deleted. */
    async replace(snapshot: SetupSnapshot): Promise<void> {
      if ((await readUse()) === undefined) return;
      const key = keys.environmentRun(uid);
      await writeIf(table, { kind: "update", key, set: { setup_snapshot: snapshot }, if: { pk: { exists: true } } });
    },
  };
}
