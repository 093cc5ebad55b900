import type { RunBody } from "../../shared/records/run-body.ts";
import { toNewRunWrites } from "../../shared/runs/new-run-store.ts";
import type { Owner } from "../../shared/table/keys.ts";
import type { TransactionWrite } from "../../shared/table/table.ts";
import { listWrites } from "../../shared/table/transact.ts";

/** Lists the writes of a new run in their order, without their names. */
export const newRunWrites = (runId: string, owner: Owner, body: RunBody, now: number): TransactionWrite[] =>
  listWrites(toNewRunWrites({ runId, owner, body, now, local: undefined }));
