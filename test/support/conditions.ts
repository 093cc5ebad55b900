import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import * as v from "valibot";
import { ConditionFailed, type Conditions, type Table, type TransactionWrite } from "#shared/table/table.ts";
import { actingName } from "./rights.ts";

/**
 * For `npm run lab -- mutate-conditions`: the conditions of the service's writes, named by function, item and attribute.
 * `RUNYARD_CONDITIONS` names a file that each condition is recorded in, with the test files in which its write was refused.
 * `RUNYARD_DROPPED` lists the conditions, one a line, that are dropped to see whether a test fails.
 */
const noted = process.env["RUNYARD_CONDITIONS"];
const dropped = new Set(process.env["RUNYARD_DROPPED"]?.split("\n"));
const seen = new Set<string>();

export function mutatedTable<T extends Table>(table: T): T {
  if (noted === undefined && dropped.size === 0) return table;
  return {
    ...table,
    write: (write) => refused([write], () => table.write(mutated(write))),
    transact: (writes) => refused(writes, () => table.transact(writes.map(mutated))),
  };
}

function mutated<W extends TransactionWrite>(write: W): W {
  const kept: Conditions = Object.fromEntries(
    Object.entries(write.if ?? {}).filter(([attribute]) => {
      const name = findName(write, attribute);
      if (name !== undefined) note(name);
      return name === undefined || !dropped.has(name);
    }),
  );
  return write.if === undefined ? write : { ...write, if: kept };
}

/** Undefined for writes of the test itself, which are not writes of the service. */
function findName(write: TransactionWrite, attribute: string): string | undefined {
  const who = actingName();
  if (who === undefined) return undefined;
  const key = write.kind === "put" ? write.item : write.key;
  const [pk, sk] = [key.pk, key.sk].map((part) => part.split("#")[0]);
  return `${who} ${write.kind} ${pk}/${sk} ${attribute.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "<id>")}`;
}

async function refused<T>(writes: readonly TransactionWrite[], perform: () => Promise<T>): Promise<T> {
  try {
    return await perform();
  } catch (error) {
    for (const write of error instanceof ConditionFailed ? error.positions.map((position) => writes[position]) : []) {
      for (const attribute of Object.keys(write?.if ?? {})) {
        const name = write && findName(write, attribute);
        if (name !== undefined) note(name, testFile());
      }
    }
    throw error;
  }
}

function note(...line: readonly [name: string, testFile?: string]): void {
  const text = JSON.stringify(line);
  if (noted === undefined || seen.has(text)) return;
  seen.add(text);
  appendFileSync(noted, `${text}\n`);
}

/** The test file that this process runs, relative to the repository's root. */
function testFile(): string {
  const { filepath } = v.parse(v.object({ filepath: v.string() }), Reflect.get(globalThis, "__vitest_worker__"));
  return relative(process.cwd(), filepath);
}
