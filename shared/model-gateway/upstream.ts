import type { ModelProvider, ProviderCall } from "./provider.ts";

/** Attempts at one call; only those before the first byte of an answer are made again. */
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
/** A provider that asks for a longer pause than this is not waited for: its answer goes to the caller, who may. */
const LONGEST_PAUSE_MS = 20_000;
/** Milliseconds until an answer begins; one that is not streamed begins when it is whole. */
const FIRST_BYTE_MS = 280_000;

const TRANSIENT = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

export interface UpstreamPorts {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** @default FIRST_BYTE_MS */
  readonly firstByteMs?: number | undefined;
}

/** No answer began in time. */
export class TimedOut extends Error {}

/** The provider's answer, after as many attempts as it takes and there are. Throws where it could not be reached. */
export async function callProvider(
  provider: ModelProvider,
  call: ProviderCall,
  { sleep, firstByteMs = FIRST_BYTE_MS }: UpstreamPorts,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await once(provider, call, firstByteMs);
    const pause = outcome instanceof Response ? pauseAfter(outcome, attempt) : backOff(attempt);
    const given = call.signal.aborted || (outcome instanceof Response && !isTransient(outcome));
    if (given || outcome instanceof TimedOut || attempt === ATTEMPTS || pause > LONGEST_PAUSE_MS) {
      if (outcome instanceof Response) return outcome;
      throw outcome;
    }
    if (outcome instanceof Response) await outcome.body?.cancel();
    await sleep(pause);
  }
}

/** One attempt: the answer, or why there is none. */
async function once(provider: ModelProvider, call: ProviderCall, firstByteMs: number): Promise<Response | Error> {
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

function isTransient(answer: Response): boolean {
  const said = answer.headers.get("x-should-retry");
  return said === "true" || (said !== "false" && TRANSIENT.has(answer.status));
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
