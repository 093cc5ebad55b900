import { type ModelProvider, NotConfigured, type ProviderCall } from "#shared/model-provider/model-provider.ts";

/** Attempts of one call. Only an attempt without a byte of a response is repeated. */
const ATTEMPTS = 4;
/** Attempts where the provider cannot be reached. Few, because harnesses repeat the call and report that they do. */
const UNREACHED_ATTEMPTS = 2;
const FIRST_PAUSE_MS = 500;
/** Milliseconds of the longest pause before a retry. If a provider requests a longer one, the caller gets its response. */
const LONGEST_PAUSE_MS = 20_000;
/** Milliseconds until a response begins; one that is not streamed begins when it is complete. */
const FIRST_BYTE_MS = 280_000;

const TRANSIENT = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

export interface UpstreamOptions {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** @default FIRST_BYTE_MS */
  readonly firstByteMs?: number | undefined;
  /** Aborted when no caller waits for the response. It ends the retries, but not the current attempt, which is billed. */
  readonly givenUp: AbortSignal;
  /** True if every attempt that may be billed must be settled, so that only certainly unbilled ones are repeated. */
  readonly isBudgeted: boolean;
}

/** The response did not begin in time. */
export class TimedOut extends Error {}

/** The call was given up before it was sent. */
export class GivenUp extends Error {}

/** No response came from the provider. The message says why, without addresses. */
export class Unreached extends Error {
  constructor(provider: string, cause: unknown) {
    const code = findCode(cause);
    const why = code === undefined ? "" : ` (${code})`;
    super(`${provider} could not be reached${why}. Check that its server runs, its address and the network.`, {
      cause,
    });
  }
}

function findCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : findCode(error.cause);
}

/** Calls the provider, with retries. Throws if it could not be reached. */
export async function callProvider(
  provider: ModelProvider,
  call: ProviderCall,
  { sleep, firstByteMs = FIRST_BYTE_MS, givenUp, isBudgeted }: UpstreamOptions,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    if (givenUp.aborted) throw new GivenUp("the call was cancelled before it was sent");
    const outcome = await attemptOnce(provider, call, firstByteMs);
    const pause = outcome instanceof Response ? pauseAfter(outcome, attempt) : backOff(attempt);
    const attempts = isUnsent(outcome) ? UNREACHED_ATTEMPTS : ATTEMPTS;
    const isLast = givenUp.aborted || attempt >= attempts || pause > LONGEST_PAUSE_MS;
    if (isLast || !isRepeatable(outcome, isBudgeted)) {
      if (outcome instanceof Response) return outcome;
      throw outcome;
    }
    if (outcome instanceof Response) await outcome.body?.cancel();
    await sleep(pause);
  }
}

/** Makes one attempt and returns its response or its error. */
async function attemptOnce(
  provider: ModelProvider,
  call: ProviderCall,
  firstByteMs: number,
): Promise<Response | Error> {
  const patience = new AbortController();
  const late = setTimeout(() => patience.abort(), firstByteMs);
  try {
    return await provider({ ...call, signal: AbortSignal.any([call.signal, patience.signal]) });
  } catch (error) {
    if (patience.signal.aborted) return new TimedOut("the provider did not begin to respond in time", { cause: error });
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(late);
  }
}

function isRepeatable(outcome: Response | Error, isBudgeted: boolean): boolean {
  if (outcome instanceof Error) return !(outcome instanceof TimedOut) && (!isBudgeted || isUnsent(outcome));
  const retryHint = outcome.headers.get("x-should-retry");
  return retryHint === "true" || (retryHint !== "false" && TRANSIENT.has(outcome.status));
}

/** Errors of the network that come before a request has been sent. */
const BEFORE_SENDING = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** True for an error before the body of the request was sent, so that the attempt is not billed. */
export function isUnsent(error: unknown): boolean {
  if (error instanceof NotConfigured || error instanceof GivenUp) return true;
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (BEFORE_SENDING.has(code) || /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_)/.test(code)) return true;
  return error.name === "CredentialsProviderError" || isUnsent(error.cause);
}

function pauseAfter(response: Response, attempt: number): number {
  const exact = Number(response.headers.get("retry-after-ms") ?? Number.NaN);
  if (exact > 0) return exact;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return seconds > 0 ? seconds * 1000 : backOff(attempt);
}

/** Doubles the pause with each attempt and adds jitter, so that rejected callers do not retry at the same time. */
const backOff = (attempt: number): number =>
  Math.round(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.75 + Math.random() / 2));
