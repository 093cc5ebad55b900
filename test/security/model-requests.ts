import fc from "fast-check";

/** A PNG image of one pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const BASE64_PDF = Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n").toString("base64");

/** Values that may replace a number, a text or an object. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(-1, 0, -281_000_000, 1.5, 1e300, "50", "-1", null, true, [], {}, [1], { length: 1 }),
  fc.string({ unit: "binary", maxLength: 40 }),
);

const count = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 64_000 }) },
  { weight: 1, arbitrary: hostile },
);

const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.constantFrom("data:image/png;base64,", "data:image/", "\u0000".repeat(50), "😀".repeat(80), '"\\'.repeat(60)),
  fc.tuple(fc.constantFrom("data:image/png;base64,", "", "é"), fc.nat(3_000)).map(([head, n]) => head + "x".repeat(n)),
);

const imageUrl = fc.oneof(
  fc.constantFrom(`data:image/png;base64,${PNG}`, "https://example.com/a.png", `data:image/jpeg;base64,${PNG}`),
  words.map((text) => `data:image/png;base64,${text}`),
);

const cacheControl = fc.constantFrom(
  { type: "ephemeral" },
  { type: "ephemeral", ttl: "1h" },
  { type: "ephemeral", ttl: "5m" },
);

/** Members of any API at any level, most of them in places where they do not belong. */
const stray = fc.dictionary(
  fc.constantFrom(
    "background",
    "cache_control",
    "conversation",
    "file_id",
    "file_url",
    "inference_geo",
    "max_output_tokens",
    "max_tokens",
    "mcp_servers",
    "media_type",
    "n",
    "prediction",
    "previous_response_id",
    "service_tier",
    "speed",
    "web_search_options",
    "__proto__",
  ),
  fc.oneof(hostile, cacheControl, words, fc.constantFrom("priority", "fast", "us", "image/png")),
  { maxKeys: 2 },
);

/** Usually the object itself, sometimes with unexpected members, sometimes another value. */
const disturbed = <T extends object>(object: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: object },
    { weight: 2, arbitrary: fc.tuple(object, stray).map(([own, other]) => ({ ...own, ...other })) },
    { weight: 1, arbitrary: hostile },
  );

const createContent = (part: fc.Arbitrary<unknown>) => fc.oneof(words, fc.array(part, { maxLength: 4 }));

const base64 = fc.oneof(
  fc.constant(PNG),
  words,
  words.map((text) => Buffer.from(text).toString("base64")),
);
const messagesPart = disturbed(
  fc.oneof(
    fc.record(
      { type: fc.constant("text"), text: words, cache_control: cacheControl },
      { requiredKeys: ["type", "text"] },
    ),
    fc.record({
      type: fc.constantFrom("image", "document"),
      source: fc.record({
        type: fc.constantFrom("base64", "base64", "base64", "url", "file", "text"),
        media_type: fc.constantFrom("image/png", "image/png", "application/pdf", "text/plain"),
        data: base64,
      }),
    }),
    fc.record({ type: fc.constant("tool_use"), id: words, name: words, input: fc.object({ maxDepth: 2 }) }),
    fc.record({ type: fc.constant("tool_result"), tool_use_id: words, content: words }),
  ),
);

const tool = fc.oneof(
  disturbed(fc.record({ name: words, description: words, input_schema: fc.object({ maxDepth: 2 }) })),
  disturbed(
    fc.record({ type: fc.constantFrom("function", "custom"), name: words, parameters: fc.object({ maxDepth: 2 }) }),
  ),
  fc.constantFrom(
    { type: "bash_20250124", name: "bash" },
    { type: "web_search_20250305", name: "web_search" },
    { type: "code_interpreter", container: { type: "auto" } },
    { type: "local_shell" },
  ),
);

const options = fc.record(
  {
    stream: fc.boolean(),
    temperature: fc.double({ min: 0, max: 1, noNaN: true }),
    tools: fc.array(tool, { maxLength: 3 }),
    tool_choice: fc.constantFrom<unknown>("auto", { type: "web_search" }, { type: "auto" }),
    service_tier: fc.constantFrom("auto", "default"),
    metadata: fc.object({ maxDepth: 1 }),
  },
  { requiredKeys: [] },
);

const request = (own: fc.Arbitrary<object>) =>
  fc
    .tuple(own, options, fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: stray }))
    .map(([members, common, other]) => ({ ...members, ...common, ...other }));

/** Requests of each API, with hostile values among them. */
export const REQUESTS = {
  messages: request(
    fc.record(
      {
        messages: fc.array(
          disturbed(fc.record({ role: fc.constantFrom("user", "assistant"), content: createContent(messagesPart) })),
          {
            maxLength: 4,
          },
        ),
        max_tokens: count,
        system: createContent(messagesPart),
        thinking: fc.record({ type: fc.constant("enabled"), budget_tokens: count }),
      },
      { requiredKeys: ["messages", "max_tokens"] },
    ),
  ),
  chat: request(
    fc.record(
      {
        messages: fc.array(
          disturbed(
            fc.record({
              role: fc.constantFrom("user", "assistant", "tool"),
              content: createContent(
                disturbed(
                  fc.oneof(
                    fc.record({ type: fc.constant("text"), text: words }),
                    fc.record({ type: fc.constant("image_url"), image_url: fc.record({ url: imageUrl }) }),
                    fc.record({ type: fc.constant("file"), file: fc.record({ file_data: words }) }),
                  ),
                ),
              ),
            }),
          ),
          { maxLength: 4 },
        ),
        max_tokens: count,
        max_completion_tokens: count,
        n: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }) }, { weight: 1, arbitrary: hostile }),
      },
      { requiredKeys: ["messages"] },
    ),
  ),
  responses: request(
    fc.record(
      {
        input: fc.oneof(
          words,
          fc.array(
            disturbed(
              fc.oneof(
                fc.record({
                  role: fc.constant("user"),
                  content: createContent(
                    disturbed(
                      fc.oneof(
                        fc.record({ type: fc.constant("input_text"), text: words }),
                        fc.record({ type: fc.constant("input_image"), image_url: imageUrl }),
                        fc.record({ type: fc.constant("input_file"), file_url: words }),
                      ),
                    ),
                  ),
                }),
                fc.record({ type: fc.constant("function_call_output"), call_id: words, output: words }),
                fc.record({ type: fc.constantFrom("item_reference", "reasoning"), id: words }),
              ),
            ),
            { maxLength: 4 },
          ),
        ),
        instructions: words,
        max_output_tokens: count,
      },
      { requiredKeys: ["input"] },
    ),
  ),
} as const;
