import { describe, expect, it } from "vitest";
import { messagesFilter } from "#shared/model-gateway/messages-filter.ts";
import { chatFilter, responsesFilter } from "#shared/model-gateway/openai-filters.ts";
import { newNotes } from "#shared/model-gateway/request-filter.ts";
import { PNG } from "../../security/model-requests.ts";

const FILTERS = { messages: messagesFilter, chat: chatFilter, responses: responsesFilter };
type Api = keyof typeof FILTERS;

/** The kept part of a request, and the records of the dropped parts. */
function filter(api: Api, request: unknown) {
  const notes = newNotes();
  const kept = FILTERS[api](request, "", notes);
  return { kept, ...notes, dropped: [...notes.dropped] };
}

/** An object whose members all have this text: one that is not filtered any further. */
const filled = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "x"]));

const cache_control = { type: "ephemeral", ttl: "5m" };
const text = { type: "text", text: "x", cache_control };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG }, cache_control: "x" };
const plain = { type: "document", ...filled("title", "context"), cache_control: null };
const documents = [
  { ...plain, source: { type: "text", media_type: "text/plain", data: "x" } },
  { ...plain, source: { type: "content", content: "x" } },
  { ...plain, source: { type: "content", content: [text, image] } },
];
const found = { type: "search_result", ...filled("source", "title"), content: [text], cache_control };
const pngUrl = `data:image/png;base64,${PNG}`;

const said = ["input_text", "output_text", "text", "summary_text", "reasoning_text"].map((type) => ({
  type,
  text: "x",
}));
const parts = [...said, { type: "refusal", refusal: "x" }, { type: "input_image", image_url: pngUrl, detail: "x" }];
const called = filled("call_id", "status");
const callerTools = [
  { type: "function", ...filled("name", "description", "parameters", "strict") },
  { type: "custom", ...filled("name", "description", "format") },
];

const settings = {
  ...filled("model", "stream", "temperature", "top_p", "top_logprobs", "tool_choice", "parallel_tool_calls"),
  ...filled("metadata", "store", "user", "safety_identifier", "prompt_cache_key", "service_tier"),
  stream_options: filled("include_usage", "include_obfuscation"),
};

/** Every member and every kind of part that has a known price. */
const REQUESTS: Readonly<Record<Api, object>> = {
  messages: {
    ...filled("model", "max_tokens", "stream", "tool_choice", "output_format", "metadata", "stop_sequences"),
    ...filled("temperature", "top_p", "top_k", "service_tier", "inference_geo"),
    system: [text],
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: [
          text,
          image,
          ...documents,
          found,
          { type: "thinking", ...filled("thinking", "signature") },
          { type: "redacted_thinking", data: "x" },
          { type: "tool_use", ...filled("id", "name", "input"), cache_control },
          { type: "tool_result", ...filled("tool_use_id", "is_error", "content"), cache_control },
          { type: "tool_result", tool_use_id: "x", content: [text, image, ...documents, found] },
        ],
      },
    ],
    tools: [
      filled("name", "description", "input_schema", "strict", "input_examples", "eager_input_streaming"),
      { type: null, name: "x", cache_control },
      { type: "custom", name: "x" },
      {
        type: "computer_20251124",
        ...filled("name", "max_characters", "display_width_px", "display_height_px", "display_number", "enable_zoom"),
        cache_control,
      },
      ...["bash_20250124", "text_editor_20250728", "memory_20250818"].map((type) => ({ type, name: "x" })),
    ],
    thinking: filled("type", "budget_tokens", "display"),
    output_config: filled("effort", "format"),
    context_management: { edits: [] },
    cache_control,
  },
  chat: {
    ...settings,
    ...filled("max_tokens", "max_completion_tokens", "n", "functions", "function_call", "response_format", "stop"),
    ...filled("reasoning_effort", "verbosity", "frequency_penalty", "presence_penalty", "repetition_penalty"),
    ...filled("logit_bias", "logprobs", "min_p", "top_k", "seed"),
    messages: [
      { role: "user", content: null },
      {
        ...filled("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning"),
        reasoning_content: "x",
      },
      {
        role: "user",
        content: [
          { type: "text", text: "x" },
          { type: "refusal", refusal: "x" },
          { type: "image_url", image_url: { url: pngUrl, detail: "x" } },
        ],
      },
    ],
    tools: [
      { type: "function", function: "x" },
      { type: "custom", custom: "x" },
    ],
  },
  responses: {
    ...settings,
    ...filled("instructions", "max_output_tokens", "truncation", "include"),
    reasoning: filled("effort", "summary", "generate_summary"),
    text: filled("format", "verbosity"),
    input: [
      { role: "user", content: "x" },
      { type: "message", ...filled("role", "phase", "status"), content: parts },
      { type: "function_call", ...called, ...filled("name", "arguments", "namespace") },
      { type: "function_call_output", ...called, output: "x" },
      { type: "function_call_output", ...called, output: parts },
      { type: "custom_tool_call", ...called, ...filled("name", "input") },
      { type: "custom_tool_call_output", ...called, output: "x" },
      { type: "local_shell_call", ...called, action: "x" },
      { type: "local_shell_call_output", ...called, output: "x" },
      { type: "apply_patch_call", ...called, operation: "x" },
      { type: "apply_patch_call_output", ...called, output: "x" },
      { type: "reasoning", ...filled("summary", "encrypted_content"), content: said },
      { type: "reasoning", content: [] },
    ],
    tools: [
      ...callerTools,
      { type: "namespace", ...filled("name", "description"), tools: callerTools },
      { type: "local_shell" },
      { type: "apply_patch" },
    ],
  },
};
const APIS = ["messages", "chat", "responses"] as const;

/** The request with one more member in each of its objects, and the paths of these. */
function withStrays(value: unknown, path = ""): { readonly value: unknown; readonly paths: readonly string[] } {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withStrays(item, `${path}[]`));
    return { value: items.map((item) => item.value), paths: items.flatMap(({ paths }) => paths) };
  }
  if (typeof value !== "object" || value === null) return { value, paths: [] };
  const members = Object.entries(value).map(([name, member]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return [name, withStrays(member, at)] as const;
  });
  // What is left of the source of an image is fixed, without a record.
  const own =
    "media_type" in value && value.media_type === "image/png" ? [] : [path === "" ? "stray" : `${path}.stray`];
  return {
    value: Object.fromEntries([["stray", 1], ...members.map(([name, member]) => [name, member.value])]),
    paths: [...own, ...members.flatMap(([, { paths }]) => paths)],
  };
}

describe.each(APIS)("the filter of the API %s", (api) => {
  const request = REQUESTS[api];

  it("keeps all members and parts with a known price", () => {
    expect(filter(api, request)).toMatchObject({ kept: request, dropped: [] });
  });

  it("drops any other member at any level, and records its path once", () => {
    const { value, paths } = withStrays(request);
    const { kept, dropped } = filter(api, value);
    expect(kept).toStrictEqual(request);
    expect(dropped.sort()).toEqual([...new Set(paths)].sort());
  });

  it("drops members named like those of every object", () => {
    expect(filter(api, { model: "m", constructor: 1, toString: 2 })).toMatchObject({
      kept: { model: "m" },
      dropped: ["constructor", "toString"],
    });
  });

  it.each([null, [], "x", 5])("refuses %j instead of an object", (value) => {
    const list = api === "responses" ? "input" : "messages";
    expect(() => filter(api, { [list]: [value] })).toThrow(`${list}[0]: must be an object`);
    expect(() => filter(api, { tools: [value] })).toThrow("tools[0]: must be an object");
  });

  it("refuses something else instead of a list", () => {
    const list = api === "responses" ? "input" : "messages";
    expect(() => filter(api, { [list]: {} })).toThrow(`${list}: must be a list`);
    expect(() => filter(api, { tools: {} })).toThrow("tools: must be a list");
    expect(filter(api, { tools: null }).kept).toEqual({ tools: null });
  });

  it("drops tools that the provider executes, and the choice of one", () => {
    const type = "web_search_preview_20250311";
    const { kept, dropped } = filter(api, {
      tools: [{ type }, { type: 5 }, { type: ["function"] }, { type: "toString" }],
      tool_choice: { type },
    });
    expect(kept).toEqual({ tools: [] });
    expect(dropped).toEqual([
      `tools[]("${type}")`,
      "tools[](5)",
      'tools[](["function"])',
      'tools[]("toString")',
      "tool_choice",
    ]);
  });

  it.each(["auto", "any", "none", "tool", "function", "custom", "allowed_tools"])("keeps the choice %s", (type) => {
    const tool_choice = { type, name: "x" };
    expect(filter(api, { tool_choice }).kept).toEqual({ tool_choice });
    expect(filter(api, { tool_choice: type }).kept).toEqual({ tool_choice: type });
    expect(filter(api, { tool_choice: { name: "x" } }).kept).toEqual({ tool_choice: { name: "x" } });
  });
});

describe("a filter", () => {
  it("counts images, the characters of their data, and tools that the provider defines", () => {
    expect(filter("messages", REQUESTS.messages)).toMatchObject({
      images: 4,
      imageCharacters: 4 * PNG.length,
      providerTools: 4,
    });
    expect(filter("chat", REQUESTS.chat)).toMatchObject({ images: 1, imageCharacters: PNG.length, providerTools: 0 });
    expect(filter("responses", REQUESTS.responses)).toMatchObject({
      images: 2,
      imageCharacters: 2 * PNG.length,
      providerTools: 2,
    });
  });

  it("names the type of an unknown part, shortened, and where it is", () => {
    const at = (type: unknown) => () => filter("messages", { messages: [{ role: "user", content: [{ type }] }] });
    const rest = "has no known price and needs a run without a budget";
    expect(at("hologram")).toThrow(`messages[0].content[0]: a part of type "hologram" ${rest}`);
    expect(at(undefined)).toThrow(`a part of type null ${rest}`);
    expect(at(["text"])).toThrow(`a part of type ["text"] ${rest}`);
    expect(at("toString")).toThrow(`a part of type "toString" ${rest}`);
    expect(at("y".repeat(100))).toThrow(`a part of type "${"y".repeat(59)} ${rest}`);
  });

  it.each([
    ["messages", { messages: [{ content: [{ type: "document", source: { type: "base64" } }] }] }, "a PDF document has"],
    ["messages", { messages: [{ content: [{ type: "document", source: { type: "url" } }] }] }, "data and not a URL"],
    ["messages", { messages: [{ content: [{ type: "document", source: { type: "file" } }] }] }, "not a file of the"],
    ["messages", { messages: [{ content: [{ type: "container_upload" }] }] }, "data and not a file of the provider"],
    ["messages", { system: [image] }, "a part of type"],
    ["chat", { messages: [{ content: [{ type: "file" }] }] }, "the size of a file is not known here"],
    ["chat", { messages: [{ content: [{ type: "input_audio" }] }] }, "audio has a price of its own"],
    ["responses", { input: [{ content: [{ type: "input_file" }] }] }, "the size of a file is not known here"],
    ["responses", { input: [{ content: [{ type: "input_audio" }] }] }, "audio has a price of its own"],
    [
      "responses",
      { input: [{ content: [{ type: "input_image", image_url: pngUrl, file_id: "f" }] }] },
      "send the whole",
    ],
    ["responses", { input: [{ type: "item_reference" }] }, "send the whole input instead"],
    ["responses", { previous_response_id: "x" }, "previous_response_id: refers to what the provider has stored"],
    ["responses", { conversation: "x" }, "conversation: refers to what the provider has stored"],
    ["responses", { prompt: {} }, "prompt: refers to what the provider has stored"],
    ["responses", { background: true }, "background: the response must be read in this call"],
  ] as const)("of the API %s refuses %j: %s", (api, request, reason) => {
    expect(() => filter(api, request)).toThrow(reason);
  });

  it("drops references that are null, and background mode that is off", () => {
    const absent = { previous_response_id: null, conversation: null, prompt: null };
    for (const background of [false, null]) {
      expect(filter("responses", { ...absent, background })).toMatchObject({
        kept: {},
        dropped: [...Object.keys(absent), "background"],
      });
    }
    const input = [{ content: [{ type: "input_image", image_url: pngUrl, file_id: null }] }];
    expect(filter("responses", { input }).dropped).toEqual(["input[].content[].file_id"]);
  });

  it("drops reasoning without its text, which refers to what the provider has stored", () => {
    const input = [
      { type: "reasoning", id: "rs_1", encrypted_content: 5 },
      { role: "user", content: "x" },
    ];
    expect(filter("responses", { input })).toMatchObject({
      kept: { input: [{ role: "user", content: "x" }] },
      dropped: ["input[](reasoning)"],
    });
    expect(filter("responses", { input: [{ type: "reasoning", encrypted_content: "e" }] }).dropped).toEqual([]);
  });

  it("drops edits other than clearing, and cache lifetimes and media types with another price", () => {
    const clearing = { type: "clear_tool_uses_20250919", keep: 3 };
    const edits = [clearing, { type: "compact_20260112" }, { type: 5 }, "clear_x", { type: "unclear_" }];
    expect(filter("messages", { context_management: { edits } }).kept).toEqual({
      context_management: { edits: [clearing] },
    });
    expect(filter("messages", { cache_control: { type: "ephemeral", ttl: "1h" } })).toMatchObject({
      kept: { cache_control: { type: "ephemeral" } },
      dropped: ["cache_control.ttl"],
    });
    const source = { type: "text", media_type: "text/html", data: "x" };
    expect(filter("messages", { messages: [{ content: [{ type: "document", source }] }] }).dropped).toEqual([
      "messages[].content[].source.media_type",
    ]);
  });

  it.each(["bash_2025", "xbash_20250124", "bash_202501245", "web_fetch_20250124", ["bash_20250124"]])(
    "drops the tool type %s, which the caller does not execute",
    (type) => {
      expect(filter("messages", { tools: [{ type, name: "x" }] }).kept).toEqual({ tools: [] });
    },
  );

  it("drops a member that is undefined", () => {
    expect(filter("chat", { user: undefined, seed: 1 })).toMatchObject({ kept: { seed: 1 }, dropped: ["user"] });
  });
});

describe("the data of an image", () => {
  const base64 = (...bytes: readonly (number | string)[]) =>
    Buffer.concat(
      bytes.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.of(part))),
    ).toString("base64");
  const send = (media_type: unknown, data: unknown, type = "base64") =>
    filter("messages", { messages: [{ content: [{ type: "image", source: { type, media_type, data } }] }] });

  it.each([
    ["image/png", base64(0x89, "PNG\r\n\u001a\n", 0)],
    ["image/jpeg", base64(0xff, 0xd8, 0xff)],
    ["image/gif", base64("GIF89a")],
    ["image/gif", base64("GIF87a")],
    ["image/webp", base64("RIFF", 1, 2, 3, 4, "WEBPVP8 ")],
  ])("is accepted as %s if it begins like one", (media_type, data) => {
    expect(send(media_type, data)).toMatchObject({ images: 1, imageCharacters: data.length });
    const url = `data:${media_type};base64,${data}`;
    expect(filter("responses", { input: [{ content: [{ type: "input_image", image_url: url }] }] })).toMatchObject({
      images: 1,
      imageCharacters: data.length,
    });
    for (const other of ["image/png", "image/jpeg", "image/gif", "image/webp"].filter((one) => one !== media_type)) {
      expect(() => send(other, data)).toThrow(`must be an image of type ${other}`);
    }
  });

  it.each([
    ["image/webp", base64("RIFF", 1, 2, 3, 4, "WAVEfmt ")],
    ["image/webp", base64("RIFX", 1, 2, 3, 4, "WEBPVP8 ")],
    ["image/jpeg", base64(0xff, 0xd9, 0xff)],
    ["image/jpeg", base64(0xfe, 0xd8, 0xff)],
    ["image/gif", base64("GIG89a")],
    ["image/png", base64("PNG\r\n\u001a\n", 0)],
  ])("is refused as %s if it only resembles one: %s", (media_type, data) => {
    expect(() => send(media_type, data)).toThrow(`must be an image of type ${media_type}`);
  });

  it.each([
    ["image/png", PNG.slice(0, -1)],
    ["image/png", `${PNG}é===`],
    ["image/png", `!${PNG}===`],
    ["image/png", `${PNG}====`],
    ["image/png", 5],
    ["image/tiff", PNG],
    ["toString", PNG],
    [5, PNG],
    [["image/png"], PNG],
    ["image/png", null],
    ["image/png", []],
  ])("is refused as %s if it is not base64 of a known kind", (media_type, data) => {
    expect(() => send(media_type, data)).toThrow("must be a PNG, JPEG, GIF or WebP image in base64");
  });

  it("is refused as a reference, with the place of the image", () => {
    expect(() => send("image/png", PNG, "url")).toThrow("must be data and not a reference");
    const own = `data:image/png;base64,${PNG}`;
    for (const url of [`https://x.test/${own}`, `data:image/PNG;base64,${PNG}`, 5, [own]]) {
      const messages = [{ content: [{ type: "image_url", image_url: { url } }] }];
      expect(() => filter("chat", { messages })).toThrow(
        "messages[0].content[0].image_url.url: must be data and not a",
      );
    }
  });
});
