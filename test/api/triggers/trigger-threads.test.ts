import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { Faults } from "../../support/faults.ts";
import { createHooks, signed } from "../../support/hooks.ts";

const SECRET = "a-secret-of-the-other-system";

let plane: TestControlPlane;
let user: Client;
let hooks: ReturnType<typeof createHooks>;
const start = async (faults?: Faults) => {
  plane = await createTestControlPlane(undefined, faults?.around);
  user = createClient(plane);
  hooks = createHooks(plane);
};
beforeEach(() => start());

const create = async (body: object = {}) => {
  const members = { kind: "github", secret: SECRET, prompt: "Answer {{ event.text }}", allow: { anyone: true } };
  const { status, body: trigger } = await hooks.create({ ...members, ...body });
  expect(status).toBe(201);
  return trigger.uid;
};
/** Sends a comment on an issue. */
const comment = async (uid: string, text: string, number = 7) => {
  plane.clock.now += 1000;
  const sender = { id: 1, login: "ada", type: "User" };
  const repository = { full_name: "o/r", id: 1 };
  const body = JSON.stringify({ action: "created", sender, repository, comment: { body: text }, issue: { number } });
  return hooks.send(uid, body, signed.github(SECRET, body, "issue_comment", text));
};
const followups = async (run: string) => (await user.get(`/agent/runs/${run}/followups`)).body.followups;
const outcomes = async (uid: string) =>
  (await hooks.deliveries(uid)).map(({ outcome }: { outcome: string }) => outcome).toSorted();

describe("the events of one thread", () => {
  it("continue the run of the first one, and those of another thread start another run", async () => {
    const uid = await create();
    for (const text of ["one", "two", "three"]) expect((await comment(uid, text)).status).toBe(200);
    await comment(uid, "elsewhere", 8);
    const [other, run] = await hooks.runs();
    expect([run.prompt, other.prompt]).toEqual(["Answer one", "Answer elsewhere"]);
    expect(await followups(run.run_id)).toMatchObject([
      { message: "two", policy: "enqueue", created_by: { uid: plane.user }, state: "pending" },
      { message: "three" },
    ]);
    const all = (await hooks.deliveries(uid)).reverse();
    expect(all).toMatchObject([
      { outcome: "started", run_id: run.run_id },
      { outcome: "followed_up", run_id: run.run_id, followup_id: "followup-1" },
      { outcome: "followed_up", run_id: run.run_id, followup_id: "followup-2" },
      { outcome: "started", run_id: other.run_id },
    ]);
  });

  it("make one run where they come together, and each has one outcome", async () => {
    const uid = await create();
    await Promise.all(["one", "two", "three", "four"].map((text) => comment(uid, text)));
    const runs = await hooks.runs();
    expect(runs).toHaveLength(1);
    expect(await followups(runs[0].run_id)).toHaveLength(3);
    expect(await outcomes(uid)).toEqual(["followed_up", "followed_up", "followed_up", "started"]);
  });

  it("continue a run that has ended", async () => {
    const uid = await create();
    await comment(uid, "one");
    const [run] = await hooks.runs();
    await user.post(`/agent/runs/${run.run_id}/cancel`);
    await comment(uid, "two");
    expect((await user.get(`/agent/runs/${run.run_id}`)).body).toMatchObject({ state: "QUEUED" });
    expect(await followups(run.run_id)).toMatchObject([{ message: "two" }]);
  });

  it.each([
    ["skip", { outcome: "ignored", reason: "busy" }, []],
    ["interrupt", { outcome: "followed_up" }, [{ message: "two", policy: "interrupt" }]],
  ])("are handled as busy says while the run is active: %s", async (busy, delivery, expected) => {
    const uid = await create({ busy });
    await comment(uid, "one");
    await comment(uid, "two");
    expect((await hooks.deliveries(uid))[0]).toMatchObject(delivery);
    const [run] = await hooks.runs();
    expect(await followups(run.run_id)).toMatchObject(expected);
    if (busy !== "skip") return;
    await user.post(`/agent/runs/${run.run_id}/cancel`);
    await comment(uid, "three");
    expect(await followups(run.run_id)).toMatchObject([{ message: "three" }]);
  });

  it("start runs of their own where threads are separate", async () => {
    const uid = await create({ threads: "separate" });
    await comment(uid, "one");
    await comment(uid, "two");
    expect(await hooks.runs()).toHaveLength(2);
  });

  it("send the follow-up of the template, in which values are fenced as an outsider's", async () => {
    const uid = await create({ followup_prompt: "{{ event.author.name }} wrote: {{ event.text }}" });
    await comment(uid, "one");
    await comment(uid, "```sh\ncurl evil\n```");
    const [run] = await hooks.runs();
    const [{ message }] = await followups(run.run_id);
    expect(message).toContain("ada wrote: \n\nThe value of event.text, written by an outsider");
    expect(message).toContain("````text\n```sh\ncurl evil\n```\n````");
    await comment(uid, "");
    expect((await followups(run.run_id)).at(-1)).toMatchObject({ message: "ada wrote: " });
    const broken = await user.put(`/agent/triggers/${uid}`, { followup_prompt: "{{ secret }}" });
    expect(broken.body.errors).toEqual([{ path: "followup_prompt", message: expect.stringContaining("line 1") }]);
    await user.put(`/agent/triggers/${uid}`, { followup_prompt: "" });
    await comment(uid, " ");
    const last = (await followups(run.run_id)).at(-1);
    expect(last).toMatchObject({ message: "An event without a text: issue_comment created" });
  });

  it("are not continued for a creator who has left the team", async () => {
    const uid = await create();
    await comment(uid, "one");
    const grace = await plane.person("Grace");
    await user.put(`/agent/teams/${plane.team}/members/${grace.uid}`, { role: "admin" });
    await plane.removeMember(plane.user);
    const response = await comment(uid, "two");
    const path = `/agent/triggers/${uid}/deliveries/${response.body.delivery_id}`;
    expect((await createClient(plane, grace.key).get(path)).body).toMatchObject({ outcome: "failed" });
  });

  it.each(["before", "after", "unheard"] as const)(
    "send one follow-up where it dies %s any call, once the sender repeats the delivery",
    async (fault) => {
      for (let at = 0; ; at++) {
        const faults = new Faults();
        await start(faults);
        const uid = await create();
        await comment(uid, "one");
        faults.plan = { at, fault };
        const response = await faults.invoke("receive-event", () => comment(uid, "two"));
        if (response?.status !== 200) expect((await comment(uid, "two")).status).toBe(200);
        await hooks.passMinutes(2);
        const [run] = await hooks.runs();
        expect(await followups(run.run_id), `${fault} call ${at}`).toMatchObject([{ message: "two" }]);
        const all = await outcomes(uid);
        expect(all.filter((outcome: string) => outcome === "followed_up")).toHaveLength(1);
        if (faults.calls.length <= at) return;
      }
    },
  );
});

describe("the rate of events", () => {
  const waiting = async (uid: string) =>
    (await hooks.deliveries(uid)).filter(({ will_retry }: { will_retry?: boolean }) => will_retry === true);
  /** Sends comments within one minute. */
  const send = async (uid: string, texts: readonly string[], number: (text: string) => number) => {
    plane.clock.now += 60_000 - (plane.clock.now % 60_000);
    for (const text of texts) await comment(uid, text, number(text));
  };

  it("of one thread is limited: later events wait for the next minute, and the delivery says why", async () => {
    plane.rates.thread = 2;
    const uid = await create();
    await send(uid, ["one", "two", "three"], () => 7);
    await comment(uid, "elsewhere", 8);
    expect(await outcomes(uid)).toEqual(["followed_up", "started", "started", undefined]);
    expect(await waiting(uid)).toMatchObject([
      { detail: "a thread starts or continues runs by at most 2 events a minute" },
    ]);
    await hooks.passMinutes(2);
    expect(await outcomes(uid)).toEqual(["followed_up", "followed_up", "started", "started"]);
  });

  it("of one trigger is limited, also in runs of their own, and others go on", async () => {
    plane.rates.trigger = 2;
    const uid = await create({ threads: "separate" });
    const other = await create();
    await send(uid, ["one", "two", "three"], (text) => text.length);
    await comment(other, "four");
    expect(await outcomes(other)).toEqual(["started"]);
    expect(await waiting(uid)).toMatchObject([
      { detail: "a trigger starts or continues runs by at most 2 events a minute" },
    ]);
    await hooks.passMinutes(2);
    expect(await outcomes(uid)).toEqual(["started", "started", "started"]);
  });

  it("does not count events that start no run, or repeat another one", async () => {
    plane.rates.trigger = 1;
    const uid = await create({ filter: "event.text != 'no'" });
    await send(uid, ["no", "one"], () => 7);
    await comment(uid, "one");
    expect(await outcomes(uid)).toEqual(["duplicate", "ignored", "started"]);
  });
});
