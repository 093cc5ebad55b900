import { createHmac } from "node:crypto";
import { decideEvents } from "#functions/executions/decide-events.ts";
import { eventSources } from "#infra/event-sources.ts";
import { createClient, request } from "./client.ts";
import type { ResponseBody, TestControlPlane } from "./control-plane.ts";
import { withRights } from "./rights.ts";

type Headers = Record<string, string>;

/** Signs bodies as other systems do. */
export const sign = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");

/** The headers of a signed delivery of each system. */
export const signed = {
  github: (secret: string, body: string, event: string, id: string): Headers => ({
    "x-hub-signature-256": `sha256=${sign(secret, body)}`,
    "x-github-event": event,
    "x-github-delivery": id,
  }),
  slack(secret: string, body: string, seconds: number): Headers {
    const signature = `v0=${sign(secret, `v0:${seconds}:${body}`)}`;
    return { "x-slack-signature": signature, "x-slack-request-timestamp": String(seconds) };
  },
};

/** Invokes the function that requests the decisions which are due, as the rule does each minute. */
export async function requestDueDecisions({ ports }: Pick<TestControlPlane, "ports">): Promise<void> {
  const { file, rights } = eventSources.decideEvents;
  const tick = { source: "aws.events", "detail-type": "Scheduled Event" } as const;
  await withRights(file, rights, () => decideEvents.handle(tick, ports));
}

export const BEARER_SECRET = "a-secret-of-the-ci";

/** Creates triggers, delivers events to them, and reads what they resulted in. */
export function createHooks(plane: TestControlPlane) {
  const user = createClient(plane);
  return {
    create: (body: object): Promise<ResponseBody> => user.post("/agent/triggers", { name: "events", ...body }),
    send: (uid: string, body: string, headers: Headers): Promise<ResponseBody> =>
      request(plane, "POST", `/hooks/${uid}`, { key: undefined, body, headers }),
    /** Creates a trigger for events of a plain system. Returns its uid. */
    async createPlain(body: object = {}): Promise<string> {
      const plain = { kind: "webhook", verification: { scheme: "bearer" }, secret: BEARER_SECRET };
      return (await this.create({ ...plain, prompt: "Look into it.", ...body })).body.uid;
    },
    /** Delivers an event of that system a second later. */
    sendPlain(uid: string, payload: object): Promise<ResponseBody> {
      plane.clock.now += 1000;
      return this.send(uid, JSON.stringify(payload), { authorization: `Bearer ${BEARER_SECRET}` });
    },
    /** Lets time pass, and the rule that runs each minute request the decisions that are due. */
    async passMinutes(minutes: number): Promise<void> {
      plane.clock.now += minutes * 60_000;
      await requestDueDecisions(plane);
    },
    async deliveries(uid: string) {
      return (await user.get(`/agent/triggers/${uid}/deliveries`)).body.deliveries;
    },
    async runs() {
      return (await user.get("/agent/runs")).body.runs;
    },
  };
}
export type Hooks = ReturnType<typeof createHooks>;
