import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readUsageReport } from "#shared/usage/read-usage.ts";
import { Day } from "#shared/wire/primitives.ts";
import { UsageGroup, UsageReport } from "#shared/wire/web/usage.ts";

/**
 * GET /agent/usage: returns the usage of the caller's ended runs, in buckets. A run counts on the UTC day on which it was
 * created, from its end on; runs that are still active do not count. The report covers the runs that the caller sees in
 * lists, and 400 days at most.
 */
export const getUsage = endpoint({
  request: {
    query: {
      /** The first UTC day. Defaults to 30 days up to `to`, which is included. */
      from: one(Day),
      /** The last UTC day, which is included. Defaults to today. */
      to: one(Day),
      /** What a bucket stands for. @default day */
      group_by: one(UsageGroup),
    },
  },
  reply: { 200: UsageReport },
  async run({ query, principal }, ports: IdentityPorts) {
    const buckets = await readUsageReport({ ...query, groupBy: query.group_by ?? "day" }, principal, ports);
    return { status: 200, body: { buckets, currency: "USD" } };
  },
});
