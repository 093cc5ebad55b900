import { routes } from "./routes.ts";
import type { Settings } from "./settings.ts";

/** Executions that Lambda keeps unreserved in every account; it refuses a reservation that would leave fewer. */
const MIN_UNRESERVED = 100;
/** Model calls in progress at the same time. Sandboxes that call without end leave the rest of the account to others. */
export const MAX_MODEL_CALLS = 400;
/** Event streams that are open at the same time. */
export const MAX_STREAMS = 200;

type Concurrency = Pick<
  Settings,
  "accountConcurrency" | "sandboxConcurrency" | "reserveConcurrency" | "dispatchConcurrency"
>;

/** Refuses reservations of concurrent executions that the account cannot give, which would fail in the middle of a deployment. */
export function throwIfOverReserved(settings: Concurrency): void {
  const { accountConcurrency: account, sandboxConcurrency: sandboxes = 0, reserveConcurrency } = settings;
  const services = reserveConcurrency ? countReserved(settings.dispatchConcurrency) : 0;
  if (services + sandboxes === 0) return;
  if (account === undefined) {
    throw new Error(
      'context "accountConcurrency" must be the account\'s quota "Concurrent executions" (aws lambda get-account-settings) where ' +
        '"sandboxConcurrency" or "reserveConcurrency" is set',
    );
  }
  const free = account - MIN_UNRESERVED - services;
  if (sandboxes <= free) return;
  const remedy = free > 0 ? `set "sandboxConcurrency" to at most ${free}` : 'leave out "reserveConcurrency"';
  throw new Error(
    `context "sandboxConcurrency": ${sandboxes} for sandboxes and ${services} for the service leave fewer than ${MIN_UNRESERVED} of the ` +
      `account's ${account} concurrent executions: ${remedy}, or request a higher quota and set "accountConcurrency"`,
  );
}

/** Executions that `reserveConcurrency` reserves, besides those of sandboxes. */
function countReserved(dispatchConcurrency: number): number {
  const byFile = new Map(routes.map(({ file, reserved = 0 }) => [file, reserved]));
  const ofRoutes = [...byFile.values()].reduce((sum, reserved) => sum + reserved, 0);
  return ofRoutes + MAX_MODEL_CALLS + MAX_STREAMS + dispatchConcurrency;
}
