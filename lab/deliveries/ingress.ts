import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { callApi } from "../../server/host/api.ts";
import { quantile } from "../bench/statistics.ts";
import { listDeliveries, type Service, waitUntil } from "./service.ts";

const SECRET = "a-secret-of-the-ingress";
const STEP_MS = 6_000;
const RATES = [5, 10, 25, 50, 100, 200, 400, 800, 1_600, 3_200];
/** The share of refused requests above which the rate is not raised further. */
const SHED = 0.05;
const DRAIN_MS = 60_000;

/** The responses to the requests at one rate. */
interface RateResult {
  readonly offered: number;
  readonly accepted: number;
  readonly shed: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

interface IngressResult {
  readonly rates: readonly RateResult[];
  /** The highest accepted rate a second without a refusal, and its p99 in milliseconds. */
  readonly sustained: { readonly perSecond: number; readonly p99: number };
  /** Accepted deliveries that the service has not stored. */
  readonly lost: number;
}

/** Sends events at rising rates, whatever the response times, until the service sheds them by 503. */
export async function measureIngress(service: Service): Promise<IngressResult> {
  await service.start();
  try {
    const { uid } = await callApi(service.api, "POST", "/agent/triggers", v.object({ uid: v.string() }), {
      name: "ingress",
      kind: "webhook",
      verification: { scheme: "bearer" },
      secret: SECRET,
      prompt: "Look",
      // Events of another type start no run: the ingress alone is measured, with its decisions.
      events: ["nothing"],
    });
    const accepted: string[] = [];
    const rates: RateResult[] = [];
    for (const rate of RATES) {
      const result = await offer(rate, uid, service, accepted);
      rates.push(result);
      if ((result.shed + result.failed) / (rate * (STEP_MS / 1000)) > SHED) break;
    }
    await waitUntil(async () => {
      const all = await listDeliveries(service.api, uid);
      return all.every(({ outcome }) => outcome !== undefined);
    }, DRAIN_MS);
    const stored = new Set((await listDeliveries(service.api, uid)).map(({ delivery_id }) => delivery_id));
    const best = rates.filter(({ shed, failed }) => shed + failed === 0).at(-1);
    return {
      rates,
      sustained: { perSecond: best?.offered ?? 0, p99: best?.p99 ?? Number.NaN },
      lost: accepted.filter((id) => !stored.has(id)).length,
    };
  } finally {
    await service.stop();
  }
}

const Accepted = v.object({ delivery_id: v.string() });
let count = 0;

async function offer(rate: number, trigger: string, { api }: Service, accepted: string[]): Promise<RateResult> {
  const times: number[] = [];
  const statuses: number[] = [];
  const send = async () => {
    const began = performance.now();
    const body = JSON.stringify({ type: "load", number: ++count });
    const headers = { "content-type": "application/json", authorization: `Bearer ${SECRET}` };
    try {
      const response = await fetch(`${api.baseUrl}/hooks/${trigger}`, {
        ...{ method: "POST", headers, body, signal: AbortSignal.timeout(15_000) },
      });
      statuses.push(response.status);
      const text = await response.text();
      if (response.status !== 200) return;
      times.push(performance.now() - began);
      accepted.push(v.parse(v.pipe(v.string(), v.parseJson(), Accepted), text).delivery_id);
    } catch {
      statuses.push(0);
    }
  };
  const pending: Promise<void>[] = [];
  const started = performance.now();
  for (let sent = 0; sent < (rate * STEP_MS) / 1000; ) {
    const due = Math.floor(((performance.now() - started) / 1000) * rate) + 1;
    for (; sent < due; sent++) pending.push(send());
    await pause(5);
  }
  await Promise.all(pending);
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    offered: rate,
    accepted: times.length,
    shed: statuses.filter((status) => status === 503).length,
    failed: statuses.filter((status) => status !== 200 && status !== 503).length,
    p50: round(quantile(times, 0.5)),
    p99: round(quantile(times, 0.99)),
  };
}
