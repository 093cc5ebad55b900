import type { Api } from "../../../server/host/api.ts";
import { calculateSpread, type Spread } from "../statistics.ts";

/** How long one kind of request takes. */
export interface Reads {
  readonly path: string;
  readonly callers: number;
  readonly milliseconds: Spread;
  readonly perSecond: number;
}

/** Sends the same GET again and again, from several callers that each wait for the response. */
export async function measureReads(api: Api, path: string, callers: number, requests: number): Promise<Reads> {
  const times: number[] = [];
  let remaining = requests;
  const began = performance.now();
  const call = async (): Promise<void> => {
    while (remaining-- > 0) {
      const since = performance.now();
      const response = await fetch(api.baseUrl + path, { headers: { authorization: `Bearer ${api.key}` } });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`GET ${path} returned ${response.status}`);
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const perSecond = (times.length / (performance.now() - began)) * 1000;
  return { path, callers, milliseconds: calculateSpread(times), perSecond };
}
