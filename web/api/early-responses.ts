/** Requests that `web/start.ts` has sent before the app was loaded, by their address. */
declare global {
  interface Window {
    earlyResponses?: Map<string, EarlyResponse>;
  }
}

export interface EarlyResponse {
  readonly response: Promise<Response>;
  readonly abort: () => void;
}

/** Takes the response to a request that was sent early, if there is one. It can be taken once. */
export function takeEarlyResponse(url: string, signal: AbortSignal | null | undefined): Promise<Response> | undefined {
  const early = window.earlyResponses?.get(url);
  if (early === undefined || signal?.aborted) return undefined;
  window.earlyResponses?.delete(url);
  signal?.addEventListener("abort", early.abort);
  return early.response;
}

/** Drops the responses that nothing has taken. */
export function dropEarlyResponses(): void {
  for (const { abort } of window.earlyResponses?.values() ?? []) abort();
  window.earlyResponses?.clear();
}
