import { describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createRun, type Harness, said, workingRun } from "../../support/execution.ts";

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
type Step = { id: string; messages: { role: string; content: { text: string }[] }[] };

const userMessage = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

async function append(harness: Harness, first: number, messages: readonly unknown[]): Promise<number> {
  const body = { execution_id: harness.execution_id, first_sequence: first, messages };
  const response = await harness.support("messages", body);
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body.next_sequence;
}

/** Reads all pages: all steps, and the number of steps of each page. */
async function walk(client: Client, target: string, query = ""): Promise<{ steps: Step[]; sizes: number[] }> {
  const steps: Step[] = [];
  const sizes: number[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const { status, body } = await client.get(`${target}?${query}&cursor=${cursor}`);
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
    steps.push(...body.steps);
    sizes.push(body.steps.length);
    expect(body.page_info?.has_next_page ?? false).toBe(body.page_info?.next_cursor !== undefined);
    cursor = body.page_info?.next_cursor;
  }
  return { steps, sizes };
}

const firstTexts = (steps: readonly Step[]) => steps.map(({ messages }) => messages[0]?.content[0]?.text);

describe.each([
  ["GET /agent/runs/{runId}/conversation", (id: string) => `/agent/runs/${id}/conversation`],
  ["GET /agent/conversations/{conversationId}", (id: string) => `/agent/conversations/${id}`],
])("%s", (_, targetOf) => {
  // @contract general.lists.steps
  it("returns the steps page by page, oldest first, each once", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "step 1" });
    let next = 1;
    for (let number = 2; number <= 25; number++) {
      next = await append(harness, next, [userMessage(`step ${number}`), said("done")]);
    }
    const user = createClient(plane);
    const target = targetOf(harness.run_id);
    const whole = await user.get(target);
    expect(whole.body.steps).toHaveLength(25);
    expect(whole.body).not.toHaveProperty("page_info");
    const { steps, sizes } = await walk(user, target, "limit=10");
    expect(sizes).toEqual([10, 10, 5]);
    expect(steps).toEqual(whole.body.steps);

    const { page_info } = (await user.get(`${target}?limit=10`)).body;
    await append(harness, next, [userMessage("a step that came meanwhile")]);
    const rest = await user.get(`${target}?cursor=${page_info.next_cursor}`);
    expect(firstTexts(rest.body.steps)).toEqual([
      ...Array.from({ length: 15 }, (_, index) => `step ${index + 11}`),
      "a step that came meanwhile",
    ]);
  });

  it("truncates nothing if all messages fit into the pages", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "step 1" });
    let next = 1;
    for (let number = 2; number <= 60; number++) {
      const words = Array.from({ length: 40 }, (_, index) => said(`${number}-${index} ${"w".repeat(4_000)}`));
      next = await append(harness, next, [userMessage(`step ${number}`), ...words]);
    }
    const { steps, sizes } = await walk(createClient(plane), targetOf(harness.run_id));
    expect(sizes.length).toBeGreaterThan(1);
    expect(firstTexts(steps)).toEqual(Array.from({ length: 60 }, (_, index) => `step ${index + 1}`));
    expect(steps.flatMap(({ messages }) => messages)).toHaveLength(60 + 59 * 40);
    const last = steps.at(-1)?.messages.at(-1)?.content[0]?.text;
    expect(last, "the latest messages of a page are complete").toBe(`60-39 ${"w".repeat(4_000)}`);
  });

  // @contract general.lists.500: A list without limit and cursor returns at most 500 items, and page_info if there are more.
  it("returns at most 500 steps with a cursor for the rest", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "step 1" });
    const more = Array.from({ length: 600 }, (_, index) => userMessage(`step ${index + 2}`));
    let next = 1;
    for (const from of [0, 200, 400]) next = await append(harness, next, more.slice(from, from + 200));
    const { steps, sizes } = await walk(createClient(plane), targetOf(harness.run_id));
    expect(sizes).toEqual([500, 101]);
    expect(new Set(steps.map(({ id }) => id)).size).toBe(601);
  });

  it.each(["limit=0", "limit=501", "limit=ten", "cursor=none", "limit=1&limit=2"])(
    "returns 400 for %s",
    async (query) => {
      const plane = await createTestControlPlane();
      const id = await createRun(plane);
      const { status, body } = await createClient(plane).get(`${targetOf(id)}?${query}`);
      expect(status).toBe(400);
      expect(body.errors[0].path).toBe(query.split("=")[0]);
    },
  );
});

it("rejects a cursor of a run's steps for its conversation", async () => {
  const plane = await createTestControlPlane();
  const harness = await workingRun(plane, { prompt: "step 1" });
  await append(harness, 1, [userMessage("step 2")]);
  const user = createClient(plane);
  const { page_info } = (await user.get(`/agent/runs/${harness.run_id}/conversation?limit=1`)).body;
  const other = await user.get(`/agent/conversations/${harness.run_id}?cursor=${page_info.next_cursor}`);
  expect(other).toMatchObject({ status: 400, body: { errors: [{ path: "cursor" }] } });
});

it("continues the pages of a conversation with its later runs", async () => {
  const plane = await createTestControlPlane();
  const user = createClient(plane);
  const first = await workingRun(plane, { prompt: "step 1" });
  await append(first, 1, [userMessage("step 2"), userMessage("step 3")]);
  await first.finish();
  plane.clock.now += 1;
  const second = await workingRun(plane, { prompt: "step 4", conversation_id: first.run_id });
  await append(second, 1, [userMessage("step 5")]);
  const { steps, sizes } = await walk(user, `/agent/conversations/${first.run_id}`, "limit=2");
  expect(sizes).toEqual([2, 2, 1]);
  expect(firstTexts(steps)).toEqual(["step 1", "step 2", "step 3", "step 4", "step 5"]);
});
