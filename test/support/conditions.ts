import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import * as v from "valibot";
import type { Conditions, Table, TransactionWrite } from "#shared/table/table.ts";
import { actingName } from "./rights.ts";

/**
 * For `npm run mutate`: the conditions of the service's writes, each by the function that writes, the item and the attribute.
 * `RUNYARD_CONDITIONS` names a file that each condition is noted in, with the test file that came across it; `RUNYARD_DROPPED`
 * names one that is left out, to see whether any test notices.
 */
const noted = process.env["RUNYARD_CONDITIONS"];
const dropped = process.env["RUNYARD_DROPPED"];
const seen = new Set<string>();

export function mutatedTable<T extends Table>(table: T): T {
  if (noted === undefined && dropped === undefined) return table;
  return {
    ...table,
    write: (write) => table.write(mutated(write)),
    transact: (writes) => table.transact(writes.map(mutated)),
  };
}

function mutated<W extends TransactionWrite>(write: W): W {
  const who = actingName();
  // What a test writes itself is no write of the service.
  if (who === undefined || write.if === undefined) return write;
  const key = write.kind === "put" ? write.item : write.key;
  const item = `${who} ${write.kind} ${key.pk.split("#")[0]}/${key.sk.split("#")[0]}`;
  const kept: Conditions = Object.fromEntries(
    Object.entries(write.if).filter(
      ([attribute]) => !isDropped(`${item} ${attribute.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "<id>")}`),
    ),
  );
  return { ...write, if: kept };
}

function isDropped(name: string): boolean {
  if (noted !== undefined && !seen.has(name)) {
    seen.add(name);
    appendFileSync(noted, `${JSON.stringify([name, testFile()])}\n`);
  }
  return name === dropped;
}

/** The test file that this process works through, from the repository's root. */
function testFile(): string {
  const { filepath } = v.parse(v.object({ filepath: v.string() }), Reflect.get(globalThis, "__vitest_worker__"));
  return relative(process.cwd(), filepath);
}
