import * as v from "valibot";
import type { EmulatorAccess } from "../../emulator/emulator-access.ts";
import { callEmulator } from "../../emulator/emulator-calls.ts";

const LOG_GROUPS = "/runyard/functions/";
const Groups = v.object({
  logGroups: v.array(v.object({ logGroupName: v.string() })),
  nextToken: v.exactOptional(v.string()),
});
const Events = v.object({ events: v.array(v.object({ message: v.string() })), nextToken: v.exactOptional(v.string()) });
const Line = v.pipe(v.string(), v.parseJson(), v.object({ message: v.literal("fault injected"), fault: v.string() }));

/** Counts the injected faults in the functions' logs, without those that a killed process had not yet written. */
export async function countInjectedFaults(emulator: EmulatorAccess): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const groups = await pages(emulator, "DescribeLogGroups", { logGroupNamePrefix: LOG_GROUPS }, Groups);
  for (const { logGroupName } of groups.flatMap((page) => page.logGroups)) {
    const input = { logGroupName, filterPattern: '"fault injected"' };
    for (const { message } of (await pages(emulator, "FilterLogEvents", input, Events)).flatMap(
      ({ events }) => events,
    )) {
      const line = v.safeParse(Line, message);
      if (line.success) counts[line.output.fault] = (counts[line.output.fault] ?? 0) + 1;
    }
  }
  return counts;
}

async function pages<T extends { readonly nextToken?: string }>(
  emulator: EmulatorAccess,
  operation: string,
  input: Readonly<Record<string, string>>,
  schema: v.GenericSchema<unknown, T>,
): Promise<T[]> {
  const found: T[] = [];
  let next: { readonly nextToken?: string } = {};
  do {
    const { body } = await callEmulator(emulator, "logs", `Logs_20140328.${operation}`, { ...input, ...next });
    const page = v.parse(schema, body);
    found.push(page);
    next = page.nextToken === undefined ? {} : { nextToken: page.nextToken };
  } while (next.nextToken !== undefined);
  return found;
}
