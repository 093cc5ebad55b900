import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseBudget } from "#shared/budgets/budget-store.ts";
import { keys } from "#shared/table/keys.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type Harness, workingRun } from "../support/execution.ts";
import { createGateway, type Gateway, MODEL_SETTINGS, SONNET } from "../support/gateway.ts";
import { ModelStandIn, type SeenCall } from "../support/model-stand-in.ts";
import { PNG, REQUESTS } from "./model-requests.ts";

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
let run: Harness;
beforeEach(async () => {
  const MODEL_PRICES = `openai/gpt-5.4=1.5/6,bedrock/global.anthropic.claude-sonnet-5-5=2/10,compatible/llama=1/2`;
  for (const [name, value] of Object.entries({ ...MODEL_SETTINGS, MODEL_PRICES })) vi.stubEnv(name, value);
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn);
  run = await workingRun(plane, { prompt: "hello", config: { model_id: SONNET, budget_usd: 10_000 } });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

/** Cases for each API and provider. */
const CASES = 300;

/** The most that a provider could bill per accepted image, by the published limits of the models. */
const IMAGE_TOKENS = { anthropic: 4_784, bedrock: 4_784, openai: 24_600, compatible: 48_169 } as const;

const DIALECTS = [
  { api: "messages", of: "anthropic", model: SONNET, price: { input: 2_000, output: 10_000 } },
  {
    api: "messages",
    of: "bedrock",
    model: "bedrock/global.anthropic.claude-sonnet-5-5",
    price: { input: 2_000, output: 10_000 },
  },
  { api: "chat", of: "openai", model: "openai/gpt-5.4", price: { input: 1_500, output: 6_000 } },
  { api: "chat", of: "compatible", model: "compatible/llama", price: { input: 1_000, output: 2_000 } },
  { api: "responses", of: "openai", model: "openai/gpt-5.4", price: { input: 1_500, output: 6_000 } },
] as const;
type Spoken = (typeof DIALECTS)[number];

const isImage = (value: object): boolean =>
  ("type" in value && value.type === "base64") || Object.values(value).includes(`data:image/png;base64,${PNG}`);

/** The texts of a value with the names of its members, where each byte may be a token. Images are counted separately. */
function measure(value: unknown): { bytes: number; images: number } {
  if (typeof value === "string") return { bytes: Buffer.byteLength(value), images: 0 };
  if (typeof value !== "object" || value === null) return { bytes: 1, images: 0 };
  if (isImage(value)) return { bytes: 0, images: 1 };
  const parts = Object.entries(value).map(([name, part]) => ({ name: Buffer.byteLength(name), ...measure(part) }));
  return {
    bytes: parts.reduce((sum, { name, bytes }) => sum + name + bytes, 0),
    images: parts.reduce((sum, { images }) => sum + images, 0),
  };
}

/** The most that the provider could bill for the request that it received, in billionths of a dollar. */
function largestBill({ body }: SeenCall, { of, price }: Spoken): number {
  const { bytes, images } = measure(body);
  const input = bytes + images * IMAGE_TOKENS[of];
  const limits = [body.max_tokens, body.max_completion_tokens, body.max_output_tokens].filter(
    (limit) => limit !== undefined,
  );
  expect(limits).toHaveLength(1);
  const [limit] = limits;
  expect(Number.isInteger(limit) && limit > 0).toBe(true);
  const written = JSON.stringify(body).includes('"cache_control":') ? 1.25 : 1;
  return input * price.input * written + limit * (body.n ?? 1) * price.output;
}

/** Members by which a provider would fetch input, run tools or choose another price. */
const UNPRICED =
  /"(?:file_id|file_url|file_data|previous_response_id|conversation|background|mcp_servers|web_search_options|prediction|speed|ttl":"1h)"|"type":"(?:url|file|item_reference|web_search|code_interpreter|input_file)/;

describe("the reservation of a call", () => {
  it.each(DIALECTS)("of the API $api at $of is positive and at least what the provider could bill", async (spoken) => {
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(REQUESTS[spoken.api], async (request) => {
        const before = standIn.seen.length;
        const { promise, resolve: finish } = Promise.withResolvers<void>();
        standIn.turns.push({ after: promise });
        const response = gateway[spoken.api](run.key, { ...request, model: spoken.model });
        await Promise.race([
          response,
          vi.waitFor(() => expect(standIn.seen.length).toBeGreaterThan(before), { interval: 1, timeout: 30_000 }),
        ]);
        const holds = Object.values(parseBudget(await plane.table.get(keys.budget(run.run_id))).holds);
        const reserved = holds.reduce((sum, { amount }) => sum + amount, 0);
        finish();
        const { status } = await response.then(async (given) => {
          await given.text();
          return given;
        });
        standIn.turns.length = 0;
        const [seen] = standIn.seen.slice(before);
        if (seen === undefined) {
          expect([400, 413]).toContain(status);
          expect(reserved).toBe(0);
          return;
        }
        sent += 1;
        expect(reserved).toBeGreaterThan(0);
        expect(reserved).toBeGreaterThanOrEqual(largestBill(seen, spoken));
        const { tools: _, messages: __, metadata: ___, ...rest } = seen.body;
        expect(JSON.stringify(rest)).not.toMatch(UNPRICED);
      }),
      { numRuns: CASES },
    );
    const { open, left, spent } = parseBudget(await plane.table.get(keys.budget(run.run_id)));
    expect([open, left + spent]).toEqual([0, 10_000_000_000_000]);
    // Enough of the requests reach the provider.
    expect(sent).toBeGreaterThan(CASES / 10);
    console.info(`${spoken.api} at ${spoken.of}: ${sent} of ${CASES} requests were sent`);
  });
});
