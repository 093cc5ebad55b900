import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";
import { parseRunBody, type RunBody } from "./run-body.ts";
import { type EndedHead, parseEndedHead } from "./run-head.ts";

/** A deleted run whose turns remain in its conversation, because a later run continues it. */
export interface KeptTurns {
  readonly head: EndedHead;
  readonly body: RunBody;
}

const Stored = v.object({ head: v.unknown(), body: v.unknown() });

/** The write that keeps what the turns of a run need besides its messages: when it began, its prompt, and how it ended. */
export const putTurns = ({ head, body }: KeptTurns): Put => ({
  kind: "put",
  item: { ...keys.turns(head.run_id), v: 1, head: { ...head }, body: { ...body } },
});

/** Reads the kept turns of any number of runs, in their order; undefined for a run that has none. */
export async function readTurns(
  runIds: readonly string[],
  table: Pick<Table, "batchGet">,
): Promise<(KeptTurns | undefined)[]> {
  const items = await batchGetAll(runIds.map(keys.turns), table);
  return items.map(parseTurns);
}

function parseTurns(item: Item | undefined): KeptTurns | undefined {
  if (item === undefined) return undefined;
  const { head, body } = v.parse(Stored, item);
  return { head: parseEndedHead(head), body: parseRunBody(body) };
}
