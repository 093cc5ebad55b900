import { ImageBlock, TextBlock } from "@strands-agents/sdk";
import { describe, expect, it } from "vitest";
import { createImageFilter, createImageViewer } from "#harness/agent/shown-images.ts";
import { createTransport } from "#harness/agent/transport.ts";
import { readImage } from "#harness/tools/images.ts";
import { agentRun, command, use } from "../support/agent-run.ts";
import { readJsonBody, serveModels } from "../support/model-server.ts";

const SONNET = "anthropic/claude-sonnet-5-5";
/** One pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The head of a PNG or JPEG with these sides. */
function head(format: "png" | "jpeg", width: number, height: number): Buffer {
  if (format === "png") {
    const bytes = Buffer.from(PNG, "base64");
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  }
  const frame = Buffer.from("ffc0000b0800000000010100ffd9", "hex");
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from("ffd8ffe000044a46", "hex"), frame]);
}

describe("an image that a tool reads", () => {
  it.each(["png", "jpeg"] as const)("is shown with its kind and its size, if it is a %s", (format) => {
    const bytes = head(format, 640, 480);
    expect(readImage(bytes.toString("base64"))).toEqual({
      facts: { image: format.toUpperCase(), size_bytes: bytes.length, pixels: "640 × 480" },
      image: { format, bytes },
    });
  });

  it("is not shown if providers would refuse it, and says why", () => {
    const whyNot = (bytes: Buffer) => {
      const read = readImage(bytes.toString("base64"));
      expect(read).not.toHaveProperty("image");
      return read?.facts.not_shown;
    };
    expect(whyNot(head("png", 8_000, 10))).toMatch(/more than 7999 pixels/);
    expect(whyNot(head("jpeg", 10, 8_000))).toMatch(/more than 7999 pixels/);
    expect(whyNot(head("png", 0, 10))).toBe("it is damaged");
    expect(whyNot(head("jpeg", 9, 9).subarray(0, 12))).toBe("it is damaged");
    expect(whyNot(Buffer.concat([head("png", 9, 9), Buffer.alloc(1_536 * 1024)]))).toMatch(/more than 1572864 bytes/);
    expect(readImage(Buffer.from("GIF89a").toString("base64"))).toBeUndefined();
  });

  it("is shown to models that see images, as far as a request has room", () => {
    const image = { format: "png", bytes: Buffer.alloc(1_000 * 1024) } as const;
    const shown = createImageViewer(true).show([image, image, image]);
    expect(shown.map((block) => block instanceof ImageBlock)).toEqual([true, true, false]);
    expect(createImageViewer(false).show([image])).toEqual([
      new TextBlock("\nThe image is not shown: this model does not see images."),
    ]);
  });
});

describe("read_files of an image", () => {
  const turns = [
    command(`echo ${PNG} | base64 -d > shot.png`),
    { tools: [use("read_files", { files: [{ path: "shot.png" }] })] },
    { text: "It is one pixel." },
  ];

  it("gives it to a model that sees images, and records what it is", async () => {
    await using it = await agentRun({ prompt: "Look.", turns, context: { vision_models: [SONNET] } });
    const { log } = await it.run();
    expect(it.plane.outcome, log).toMatchObject({ success: true });
    expect(it.plane.results.at(-1)?.files).toEqual([
      { path: "shot.png", image: "PNG", size_bytes: 70, pixels: "1 × 1" },
    ]);
    const [{ content }] = it.asked(-1).at(-1).content;
    expect(content.at(-1)).toMatchObject({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PNG },
    });
    expect(JSON.stringify(it.plane.results)).not.toContain(PNG.slice(0, 40));
  });

  it("tells any other model what it is", async () => {
    await using it = await agentRun({ prompt: "Look.", turns });
    const { log } = await it.run();
    expect(it.plane.outcome, log).toMatchObject({ success: true });
    const sent = JSON.stringify(it.asked(-1).at(-1));
    expect(sent).toContain("pixels: 1 × 1");
    expect(sent).toContain("this model does not see images");
    expect(sent).not.toContain(PNG.slice(0, 40));
  });
});

describe("a server that refuses images", () => {
  const bodies = {
    messages: {
      messages: [{ role: "user", content: [{ type: "tool_result", content: [{ type: "image", source: {} }] }] }],
    },
    chat: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:" } }] }] },
    responses: { input: [{ type: "function_call_output", output: [{ type: "input_image", image_url: "data:" }] }] },
  } as const;

  it.each(["messages", "chat", "responses"] as const)("gets the calls of %s without them, with a note", async (api) => {
    await using server = await serveModels(() => ({ status: 400, body: { error: { message: "Invalid image data" } } }));
    const filter = createImageFilter();
    const transport = createTransport({ api, key: "k", signal: new AbortController().signal, optional: [filter] });
    const call = (body: object) => transport(server.url, { body: JSON.stringify({ model: "m", ...body }) });
    expect((await call(bodies[api])).status).toBe(400);
    const [first, second, ...others] = server.bodies.map((body) => JSON.stringify(readJsonBody(body)));
    expect(others).toEqual([]);
    expect(first).not.toContain("image left out");
    expect(second).toContain("[image left out: the server of the model refuses it]");
    expect(second).not.toMatch(/"(?:image|image_url|input_image)"/);
    expect((await call({ messages: [] })).status).toBe(400);
    expect(server.bodies, "a request without images is not repeated").toHaveLength(3);
  });
});
