import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { RunyardError } from "#shared/errors.ts";
import {
  createRateLimitToken,
  type RateLimitKind,
  type RateLimits,
  type RateLimitToken,
} from "#shared/limits/token-bucket.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { PRIVILEGED_READS } from "#shared/wire/keys/scope.ts";
import type { RequestWarning } from "#shared/wire/request-warning.ts";
import { isRecorded } from "./audit/action.ts";
import { withAudit, withoutAudit } from "./audit/trail.ts";
import { toAuditedRequest, toRefusal } from "./audited-request.ts";
import {
  authenticate,
  type CallerPorts,
  isReservedForRuns,
  refuseForeignTeam,
  refuseKind,
  refuseScope,
} from "./caller.ts";
import { listWarnings } from "./request-warnings.ts";
import type { Schema } from "./schema-parts.ts";

/** What the authentication of requests needs. */
export interface AuthenticationPorts extends CallerPorts {
  /** The rate limits of one caller. */
  readonly rates: RateLimits;
}

/** What an endpoint says about the credentials of its requests. */
export interface AuthenticationRules {
  readonly request: { readonly body?: Schema };
  /** True if the key of a cancelled run is still valid, so that its execution learns of the cancel and reports its stop. */
  readonly whileStopping?: boolean;
  /** The kind of rate limit; `run` adds `rateLimitToken` to the transaction that has the request's effect. */
  readonly rateLimit?: RateLimitKind;
  /** Refuses a request before its credential is read, or returns the one to read it from. @default the request itself */
  readonly admit?: (event: APIGatewayProxyEventV2, ports: CallerPorts) => APIGatewayProxyEventV2;
}

/** What an endpoint's `run` knows about the caller. */
export interface Caller {
  readonly principal: Principal;
  /** The rate-limit token of an endpoint that declares a `rateLimit`; in any other endpoint it throws. */
  readonly rateLimitToken: RateLimitToken;
  /**
   * Authenticates the request again, for a response that takes long: its key may be deleted and its principal removed meanwhile.
   * @throws RunyardError as at the beginning of the request
   */
  readonly authenticateAgain: () => Promise<Principal>;
  /** Runs `work` as a request of another endpoint, under whose name the audit log records its change or refusal. */
  readonly recordAs: RecordAs;
}

/** A request of an endpoint as the audit log names it. */
export interface RecordedRequest {
  /** Its method and path, such as `POST /agent/runs/{runId}/cancel`. */
  readonly operation: string;
  /** The parameters of the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly body: unknown;
}
export type RecordAs = <T>(request: RecordedRequest, work: () => Promise<T>) => Promise<T>;

/** The body of a request. */
export interface RequestBody {
  readonly body: unknown;
  /** The body as it was sent, with the members that its schema does not name. */
  readonly sentBody: unknown;
}

/** A request before its credential is checked. */
export interface UnauthenticatedRequest<C extends RequestBody> extends RequestContext {
  readonly event: APIGatewayProxyEventV2;
  readonly rules: AuthenticationRules;
  /** Parses the request; `refuse` runs before the path is parsed, since a 404 shows what exists. */
  readonly readCall: (refuse?: () => void) => C;
}

/** What a response and its log line say in addition. */
export interface RequestContext {
  readonly log: LogFields;
  /** Filled by the request. */
  readonly warnings: RequestWarning[];
}

export interface LogFields {
  route: string;
  method: string;
  path: string;
  principal?: string;
}

/** Authenticates a request, parses it, records it in the audit log, and runs it. */
export async function runAuthenticated<C extends RequestBody, T>(
  { event, rules, readCall, log, warnings }: UnauthenticatedRequest<C>,
  ports: AuthenticationPorts,
  run: (call: C & Caller) => Promise<T>,
): Promise<T> {
  const credentials = rules.admit?.(event, ports) ?? event;
  const readPrincipal = () => authenticate(credentials, ports, rules.whileStopping ?? false);
  const principal = await readPrincipal();
  log.principal = `${principal.kind}`;
  return recordRefusals({ event, principal }, ports, async () => {
    if (isReservedForRuns(ports)) refuseKind(principal, ports);
    const call = readCall(() => {
      refuseKind(principal, ports);
      refuseScope(principal, ports);
      refuseForeignTeam(principal, event);
    });
    const { body } = rules.request;
    if (body !== undefined && !isReservedForRuns(ports)) warnings.push(...listWarnings(body, call.sentBody));
    const rateLimitToken = createRateLimitToken(toPrincipalKey(principal), rules.rateLimit, ports.rates);
    const authenticateAgain = async () => {
      const again = await readPrincipal();
      refuseForeignTeam(again, event);
      return again;
    };
    const recordAs: RecordAs = ({ operation, path, body: members }, work) => {
      const request = { event: { ...event, routeKey: operation, pathParameters: { ...path } }, principal };
      return recordRefusals(request, ports, () => audited({ ...request, body: members }, ports, work));
    };
    const result = await audited({ event, principal, body: call.body }, ports, () =>
      run({ ...call, principal, rateLimitToken, authenticateAgain, recordAs }),
    );
    if (event.requestContext.http.method !== "GET") await ports.principals.noteUse(principal);
    return result;
  });
}

/** Runs an endpoint, and records the request in the audit log if it is refused: a change, or a read with one of `PRIVILEGED_READS`. */
async function recordRefusals<T>(
  { event, principal }: { event: APIGatewayProxyEventV2; principal: Principal },
  { scope, principals }: CallerPorts,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isRead = event.routeKey.startsWith("GET ");
    const isPrivileged = isRead ? PRIVILEGED_READS.includes(scope) : !scope.startsWith("own ");
    const isRefused = isPrivileged && error instanceof RunyardError && error.code === "not_authorized";
    const refusal = isRefused ? toRefusal(event, principal) : undefined;
    if (refusal !== undefined) await principals.recordRefusal(refusal.team, refusal.event);
    throw error;
  }
}

/** Runs an endpoint, and records its change in the audit log, unless a run or a session reports about itself. */
function audited<T>(
  { event, principal, body }: { event: APIGatewayProxyEventV2; principal: Principal; body: unknown },
  { scope }: CallerPorts,
  run: () => Promise<T>,
): Promise<T> {
  if (scope.startsWith("own ")) return withoutAudit(run);
  return withAudit(toAuditedRequest(event, principal, body), isRecorded(event.routeKey), run);
}
