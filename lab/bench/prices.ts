import type { Cost } from "./costs.ts";

/** List prices in US dollars a million, us-east-1, on demand, without any free tier. Small items are left out: see docs. */
const PRICES = {
  writeUnit: 0.625,
  readUnit: 0.125,
  httpRequest: 1.0,
  invocation: 0.2,
  /** Arm, a GB-second. */
  gbSecond: 13.3334,
  queueRequest: 0.4,
  put: 5.0,
  /** A GB that is logged costs 50 cents; an invocation logs about a KB, its runtime's own lines included. */
  logged: 0.5,
} as const;

/** What one invocation is billed for: 30 ms of 512 MB. It waits for DynamoDB most of that time. */
const GB_SECONDS = 0.03 * 0.5;

/** A message that is sent, received and deleted. */
const REQUESTS_A_MESSAGE = 3;

export interface Bill {
  readonly invocations: number;
  /** Those of `invocations` that log nothing. @default 0 */
  readonly quietInvocations?: number;
  readonly httpRequests: number;
  readonly messages: number;
  readonly puts: number;
  readonly reads: number;
  readonly writes: number;
}

/** Dollars for a million times what is on the bill. */
export function dollars(bill: Bill): number {
  return (
    bill.writes * PRICES.writeUnit +
    bill.reads * PRICES.readUnit +
    bill.httpRequests * PRICES.httpRequest +
    bill.invocations * (PRICES.invocation + GB_SECONDS * PRICES.gbSecond) +
    (bill.invocations - (bill.quietInvocations ?? 0)) * PRICES.logged +
    bill.messages * REQUESTS_A_MESSAGE * PRICES.queueRequest +
    bill.puts * PRICES.put
  );
}

/** A run's bill, whose functions were called so often over HTTP and by queues. */
export function calculateBill(cost: Pick<Cost, "reads" | "writes">, httpRequests: number, messages: number): Bill {
  const { reads, writes } = cost;
  return { invocations: httpRequests + messages, httpRequests, messages, puts: messages > 0 ? 1 : 0, reads, writes };
}
