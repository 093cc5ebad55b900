import * as v from "valibot";
import { REGION } from "../local/account.ts";

const LOG_GROUPS = "/runyard/functions/";
const Groups = v.object({
  logGroups: v.array(v.object({ logGroupName: v.string() })),
  nextToken: v.exactOptional(v.string()),
});
const Events = v.object({ events: v.array(v.object({ message: v.string() })), nextToken: v.exactOptional(v.string()) });
const Line = v.pipe(v.string(), v.parseJson(), v.object({ message: v.literal("fault injected"), fault: v.string() }));

/** How often each fault was injected, as the functions' logs have it; what a killed process had not written yet is missing. */
export async function injectedFaults(endpoint: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const groups = await pages(endpoint, "DescribeLogGroups", { logGroupNamePrefix: LOG_GROUPS }, Groups);
  for (const { logGroupName } of groups.flatMap((page) => page.logGroups)) {
    const asked = { logGroupName, filterPattern: '"fault injected"' };
    for (const { message } of (await pages(endpoint, "FilterLogEvents", asked, Events)).flatMap(
      ({ events }) => events,
    )) {
      const line = v.safeParse(Line, message);
      if (line.success) counts[line.output.fault] = (counts[line.output.fault] ?? 0) + 1;
    }
  }
  return counts;
}

async function pages<T extends { readonly nextToken?: string }>(
  endpoint: string,
  operation: string,
  input: Readonly<Record<string, string>>,
  schema: v.GenericSchema<unknown, T>,
): Promise<T[]> {
  const found: T[] = [];
  let next: { readonly nextToken?: string } = {};
  do {
    const answer = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.1",
        "x-amz-target": `Logs_20140328.${operation}`,
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/logs/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify({ ...input, ...next }),
    });
    const page = v.parse(schema, await answer.json());
    found.push(page);
    next = page.nextToken === undefined ? {} : { nextToken: page.nextToken };
  } while (next.nextToken !== undefined);
  return found;
}
