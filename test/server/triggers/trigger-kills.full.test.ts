import * as v from "valibot";
import { expect, it } from "vitest";
import { client } from "../../support/api-client.ts";
import { startService, type TestService } from "../../support/service.ts";

const EVENTS = 150;
const REPEATED = 50;
/** Responses after which the process is killed. */
const KILLS = [40, 90, 140, 190];
const AT_ONCE = 8;
const SECRET = "a-secret-of-the-ci-system";
const Sent = v.object({ delivery_id: v.string() });

/** A fixed order that is not that of the events. */
function shuffle<T>(items: readonly T[]): T[] {
  let state = 20_261_129;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state;
  };
  return items
    .map((item) => ({ item, place: next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

it("starts one run for each of 150 events of 200 deliveries, in any order, however often the process is killed", async () => {
  let service: TestService = await startService();
  const { directory } = service;
  try {
    const { body: trigger } = await client(service).call("POST", "/agent/triggers", {
      ...{
        name: "builds",
        kind: "webhook",
        verification: { scheme: "bearer" },
        secret: SECRET,
        prompt: "Look into it.",
      },
      // They wait for a worker that never comes, so that nothing is executed.
      agent_config: { worker_host: "nobody" },
    });
    const all = Array.from({ length: EVENTS }, (_, build) => build);
    const waiting = shuffle([...all, ...all.slice(0, REPEATED)]);
    let responses = 0;
    let restarted: Promise<void> | undefined;
    const restart = async () => {
      await service.kill();
      service = await startService({ directory });
    };
    /** Sends an event until it is taken, as senders do. */
    const send = async (build: number): Promise<void> => {
      for (;;) {
        await restarted;
        const response = await fetch(`${service.baseUrl}/hooks/${trigger.uid}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${SECRET}`,
            "content-type": "application/json",
            "webhook-id": `event-${build}`,
          },
          body: JSON.stringify({ type: "build", build }),
        }).catch(() => undefined);
        if (response?.status === 200 && v.is(Sent, await response.json().catch(() => undefined))) break;
      }
      responses += 1;
      if (KILLS.includes(responses)) restarted = restart();
    };
    const sendNext = async (): Promise<void> => {
      for (let build = waiting.pop(); build !== undefined; build = waiting.pop()) await send(build);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
    await restarted;

    const api = client(service);
    const read = async () => (await api.call("GET", `/agent/triggers/${trigger.uid}/deliveries`)).body.deliveries;
    const Delivery = v.object({
      external_id: v.string(),
      outcome: v.optional(v.string()),
      run_id: v.optional(v.string()),
    });
    // A decision whose message was lost is requested again after 90 seconds.
    await expect
      .poll(async () => (await read()).filter(({ outcome }: { outcome?: string }) => outcome === undefined).length, {
        timeout: 300_000,
        interval: 1_000,
      })
      .toBe(0);
    const deliveries = v.parse(v.array(Delivery), await read());
    expect(new Set(deliveries.map(({ outcome }) => outcome))).toEqual(new Set(["started", "duplicate"]));
    const started = deliveries.filter(({ outcome }) => outcome === "started");
    expect(started.map(({ external_id }) => external_id).sort()).toEqual(all.map((build) => `event-${build}`).sort());
    const { runs } = (await api.call("GET", `/agent/runs?trigger_id=${trigger.uid}&limit=500`)).body;
    expect(runs.map(({ run_id }: { run_id: string }) => run_id).sort()).toEqual(
      started.map(({ run_id }) => run_id).sort(),
    );
  } finally {
    await service[Symbol.asyncDispose]();
  }
}, 600_000);
