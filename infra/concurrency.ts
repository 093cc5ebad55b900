import { routes } from "./routes.ts";

/** Executions that Lambda keeps unreserved in every account; it refuses a reservation that would leave fewer. */
const MIN_UNRESERVED = 100;
/** The default percentage of the account's executions for sandboxes. Each sandbox can have a model call in progress. */
const SANDBOX_PERCENT = 30;
/** Event streams that are open at the same time, in an account with enough executions. */
const MAX_STREAMS = 200;
/** The smallest useful share of what functions would reserve in a large account. */
const MIN_SCALE = 0.1;
/** Lambda's minimum for the concurrency limit of an event source mapping. */
const MIN_MAPPING = 2;

/** The settings that determine it; settings.ts describes them. */
interface Concurrency {
  readonly accountConcurrency?: number;
  readonly sandboxConcurrency?: number;
  readonly reserveConcurrency: boolean;
  readonly dispatchConcurrency: number;
}

/** How the deployment uses the concurrent executions of its account. */
export interface ConcurrencyPlan {
  /** Executions of runs at the same time. Undefined where the account's quota is unknown: there is no limit. */
  readonly maxExecutions: number | undefined;
  /** Invocations of dispatch-run at the same time: the maximum of its event source mapping, and its reservation, if any. */
  readonly dispatch: number;
  /** Event streams, model calls: what their functions reserve. Undefined without reservations. */
  readonly streams: number | undefined;
  readonly modelCalls: number | undefined;
  /** What a route's function reserves of the executions that its line in routes.ts names. */
  readonly reserve: (wanted: number | undefined) => number | undefined;
}

/**
 * Divides the account's concurrent executions. At least 100 stay unreserved, and besides them one for each sandbox that is not
 * reserved. What functions reserve shrinks with the account; a model call in progress never has to wait for another sandbox's.
 * @throws where the account cannot provide what the settings require: CloudFormation would fail in the middle of a deployment
 */
export function planConcurrency(settings: Concurrency): ConcurrencyPlan {
  const { accountConcurrency: account, sandboxConcurrency: sandboxes, reserveConcurrency } = settings;
  if (account === undefined) {
    if (sandboxes !== undefined || reserveConcurrency) throw new Error(UNKNOWN_QUOTA);
    return unreserved(settings.dispatchConcurrency, undefined);
  }
  const maxExecutions = sandboxes ?? Math.max(2, Math.floor((account * SANDBOX_PERCENT) / 100));
  const dispatch = Math.min(settings.dispatchConcurrency, Math.max(MIN_MAPPING, Math.floor(account / 20)));
  throwIfSandboxesExceed(account, sandboxes ?? 0);
  if (!reserveConcurrency) return unreserved(dispatch, maxExecutions);
  const free = account - MIN_UNRESERVED - 2 * maxExecutions;
  const demand = countWanted() + dispatch;
  const scale = Math.min(1, free / demand);
  if (scale < MIN_SCALE) throw new Error(describeShortage(account, maxExecutions, Math.ceil(demand * MIN_SCALE)));
  const scaled = (count: number) => Math.max(1, Math.floor(count * scale));
  return {
    maxExecutions,
    dispatch: Math.max(MIN_MAPPING, scaled(dispatch)),
    streams: scaled(MAX_STREAMS),
    modelCalls: maxExecutions,
    reserve: (count) => (count === undefined ? undefined : scaled(count)),
  };
}

const unreserved = (dispatch: number, maxExecutions: number | undefined): ConcurrencyPlan => ({
  maxExecutions,
  dispatch,
  streams: undefined,
  modelCalls: undefined,
  reserve: () => undefined,
});

const UNKNOWN_QUOTA =
  'context "accountConcurrency" must be the account\'s quota "Concurrent executions" (aws lambda get-account-settings) where ' +
  '"sandboxConcurrency" or "reserveConcurrency" is set and the quota could not be looked up';

function throwIfSandboxesExceed(account: number, sandboxes: number): void {
  const most = account - MIN_UNRESERVED;
  if (sandboxes === 0 || sandboxes <= most) return;
  const remedy = most > 0 ? `set "sandboxConcurrency" to at most ${most}` : 'leave out "sandboxConcurrency"';
  throw new Error(
    `context "sandboxConcurrency": ${sandboxes} leave fewer than ${MIN_UNRESERVED} of the account's ${account} concurrent ` +
      `executions: ${remedy}, or request a higher quota and set "accountConcurrency"`,
  );
}

function describeShortage(account: number, sandboxes: number, least: number): string {
  const most = Math.floor((account - MIN_UNRESERVED - least) / 2);
  const remedy = most > 0 ? `set "sandboxConcurrency" to at most ${most}, ` : "";
  return (
    `context "reserveConcurrency": ${sandboxes} sandboxes with a model call each, at least ${least} executions for the service and ` +
    `${MIN_UNRESERVED} unreserved ones are more than the account's ${account} concurrent executions: ${remedy}leave out ` +
    '"reserveConcurrency", or request a higher quota and set "accountConcurrency"'
  );
}

/** Executions that the functions of routes and event streams reserve in an account with enough of them. */
function countWanted(): number {
  const byFile = new Map(routes.map(({ file, reserved = 0 }) => [file, reserved]));
  return [...byFile.values()].reduce((sum, reserved) => sum + reserved, 0) + MAX_STREAMS;
}
