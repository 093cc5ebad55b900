import { type ModelProvider, NotConfigured, type ProviderCall } from "#shared/model-provider/model-provider.ts";

/** Attempts at one call; only those before the first byte of an answer are made again. */
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
/** A provider that asks for a longer pause than this is not waited for: its answer goes to the caller, who may. */
const LONGEST_PAUSE_MS = 20_000;
/** Milliseconds until an answer begins; one that is not streamed begins when it is whole. */
const FIRST_BYTE_MS = 280_000;

const TRANSIENT = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

export interface UpstreamOptions {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** @default FIRST_BYTE_MS */
  readonly firstByteMs?: number | undefined;
  /** Aborted where nobody waits for the answer any more. It ends the attempts, and not the one under way, which is billed. */
  readonly givenUp: AbortSignal;
  /** True where every attempt that may be billed must be settled: only those are repeated that certainly are not. */
  readonly isBudgeted: boolean;
}

/** No answer began in time. */
export class TimedOut extends Error {}

/** The call was given up before it was sent. */
class GivenUp extends Error {}

/** The provider's answer, after as many attempts as it takes and there are. Throws where it could not be reached. */
export async function callProvider(
  provider: ModelProvider,
  call: ProviderCall,
  { sleep, firstByteMs = FIRST_BYTE_MS, givenUp, isBudgeted }: UpstreamOptions,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    if (givenUp.aborted) throw new GivenUp("the call was given up before it was sent");
    const outcome = await attemptOnce(provider, call, firstByteMs);
    const pause = outcome instanceof Response ? pauseAfter(outcome, attempt) : backOff(attempt);
    const isLast = givenUp.aborted || attempt === ATTEMPTS || pause > LONGEST_PAUSE_MS;
    if (isLast || !isRepeatable(outcome, isBudgeted)) {
      if (outcome instanceof Response) return outcome;
      throw outcome;
    }
    if (outcome instanceof Response) await outcome.body?.cancel();
    await sleep(pause);
  }
}

/** One attempt: the answer, or why there is none. */
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
    if (patience.signal.aborted) return new TimedOut("the provider did not begin to answer in time", { cause: error });
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(late);
  }
}

function isRepeatable(outcome: Response | Error, isBudgeted: boolean): boolean {
  if (outcome instanceof Error) return !(outcome instanceof TimedOut) && (!isBudgeted || isUnsent(outcome));
  const said = outcome.headers.get("x-should-retry");
  return said === "true" || (said !== "false" && TRANSIENT.has(outcome.status));
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

/** True of an error that shows that the body of the request was never sent, so that nobody bills it. */
export function isUnsent(error: unknown): boolean {
  if (error instanceof NotConfigured || error instanceof GivenUp) return true;
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (BEFORE_SENDING.has(code) || /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_)/.test(code)) return true;
  return error.name === "CredentialsProviderError" || isUnsent(error.cause);
}

function pauseAfter(answer: Response, attempt: number): number {
  const exact = Number(answer.headers.get("retry-after-ms") ?? Number.NaN);
  if (exact > 0) return exact;
  const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
  return seconds > 0 ? seconds * 1000 : backOff(attempt);
}

/** Twice as long each time, with a part by chance, so that those who were refused together do not come back together. */
const backOff = (attempt: number): number =>
  Math.round(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.75 + Math.random() / 2));
