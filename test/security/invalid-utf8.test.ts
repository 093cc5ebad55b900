import http from "node:http";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { routes } from "#infra/routes.ts";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";
import { request } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { workingRun } from "../support/execution.ts";
import { createGateway, stubModelSettings } from "../support/gateway.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";
import { makeStage } from "../support/principals.ts";

const prompt = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"prompt":"a'), Buffer.from(bytes), Buffer.from('b"}')]);

/** Bodies that are JSON after invalid bytes are replaced. */
const invalid: readonly (readonly [string, Buffer])[] = [
  ["a byte that starts no sequence", prompt(0xff)],
  ["a continuation byte on its own", prompt(0x80)],
  ["a sequence that is cut short", prompt(0xe2, 0x82)],
  ["an overlong slash", prompt(0xc0, 0xaf)],
  ["an overlong NUL", prompt(0xc0, 0x80)],
  ["a surrogate", prompt(0xed, 0xa0, 0x80)],
  ["a code point above U+10FFFF", prompt(0xf4, 0x90, 0x80, 0x80)],
  ["Latin-1", Buffer.from('{"prompt":"café"}', "latin1")],
  ["UTF-16", Buffer.from('{"prompt":"a"}', "utf16le").fill(0xff, 0, 1)],
  [
    "an invalid name of a member",
    Buffer.concat([Buffer.from('{"prompt":"a","'), Buffer.from([0xfe]), Buffer.from('":1}')]),
  ],
  ["an invalid byte after the document", Buffer.concat([Buffer.from('{"prompt":"a"}'), Buffer.from([0xff])])],
  ["a document that ends in the middle of a character", Buffer.from('{"prompt":"a"}€').subarray(0, -1)],
];

const valid = Buffer.from(JSON.stringify({ prompt: "é€😀 \u{10ffff} \ufffd" }));

describe("a body with invalid UTF-8", () => {
  // @contract errors.body.utf8: A body that is not UTF-8 is 400 wherever it reaches the service.
  it.each(invalid)("is refused with 400 and stores nothing: %s", async (_, body) => {
    const plane = await createTestControlPlane();
    const before = structuredClone(plane.table.all());
    const response = await request(plane, "POST", "/agent/runs", { key: plane.key, body });
    expect(response).toMatchObject({ status: 400, body: { error_code: "invalid_request" } });
    expect(plane.table.all()).toEqual(before);
  });

  it("is refused on every route with a body", async () => {
    const stage = await makeStage();
    // The signature of an event covers its bytes, whatever they are, and is checked first.
    const taking = routes.filter(
      ({ method, path }) => (method === "POST" || method === "PUT") && !path.startsWith("/hooks/"),
    );
    for (const { method, path, who } of taking) {
      const target = path.replaceAll(/\{\w+\}/g, stage.runId);
      const key = stage.key(who.includes("personal") ? "creator" : "the run itself");
      const response = await request(stage.plane, method, target, {
        key,
        body: prompt(0xff),
      });
      expect(response, `${method} ${path}`).toMatchObject({ status: 400, body: { detail: "body: is not UTF-8" } });
    }
  });

  it("is accepted with every Unicode character", async () => {
    const plane = await createTestControlPlane();
    expect((await request(plane, "POST", "/agent/runs", { key: plane.key, body: valid })).status).toBe(200);
  });
});

describe("a body at the local HTTP port", () => {
  let plane: TestControlPlane;
  let service: http.Server;
  let proxy: HttpProxy;
  let received: string[];

  beforeAll(async () => {
    // Like the emulator, this service reads every body as text.
    service = http.createServer(async (incoming, response) => {
      const body = await text(incoming);
      received.push(body);
      const key = incoming.headers.authorization?.replace("Bearer ", "");
      const result = await request(plane, incoming.method ?? "", (incoming.url ?? "").replace("/api/v1", ""), {
        key,
        body,
      });
      response.writeHead(result.status, { "content-type": "application/json" }).end(JSON.stringify(result.body));
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    const address = service.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    proxy = await startHttpProxy({ port: 0, webDirectory: tmpdir() });
    proxy.openTo(`http://127.0.0.1:${address.port}`, "");
  });
  beforeEach(async () => {
    plane = await createTestControlPlane();
    received = [];
  });
  afterAll(async () => {
    await proxy.close();
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  /** Sends a body in pieces of the given size. */
  function send(body: Buffer, pieceBytes: number, key: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        "content-length": body.length,
        authorization: `Bearer ${key}`,
      };
      const sent = http.request({
        port: proxy.port,
        host: "127.0.0.1",
        method: "POST",
        path: "/api/v1/agent/runs",
        headers,
      });
      sent.on("response", (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      });
      sent.on("error", reject);
      sent.setNoDelay(true);
      for (let from = 0; from < body.length; from += pieceBytes) sent.write(body.subarray(from, from + pieceBytes));
      sent.end();
    });
  }

  // @contract errors.body.utf8
  it.each(invalid)("is refused with 400 and stores nothing: %s", async (_, body) => {
    const before = structuredClone(plane.table.all());
    for (const pieceBytes of [1, 3, body.length])
      expect(await send(Buffer.from(body), pieceBytes, plane.key)).toBe(400);
    expect(await send(Buffer.from(body), body.length, "none"), "the key is checked first").toBe(401);
    expect(plane.table.all()).toEqual(before);
  });

  it("arrives unchanged if it is UTF-8, however it is split", async () => {
    for (const pieceBytes of [1, 2, 3, 5, valid.length]) expect(await send(valid, pieceBytes, plane.key)).toBe(200);
    expect(new Set(received)).toEqual(new Set([valid.toString()]));
  });
});

describe("a body at the model gateway", () => {
  let standIn: ModelStandIn;
  beforeEach(async () => {
    stubModelSettings();
    standIn = await ModelStandIn.start();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await standIn[Symbol.asyncDispose]();
  });

  // @contract errors.body.utf8
  it.each(["/anthropic/v1/messages", "/openai/v1/chat/completions", "/openai/v1/responses"])(
    "is refused with 400 and sent to no provider: %s",
    async (path) => {
      const plane = await createTestControlPlane();
      const { key } = await workingRun(plane);
      const { serve } = createGateway(plane, standIn);
      const bytes = [
        Buffer.from(
          '{"model":"anthropic/claude-sonnet-5-5","max_tokens":9,"input":"x","messages":[{"role":"user","content":"',
        ),
        Buffer.from([0xff]),
        Buffer.from('"}]}'),
      ];
      const response = await serve(
        new Request(`${plane.ports.baseUrl}/model${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-api-key": key },
          body: Buffer.concat(bytes),
        }),
      );
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("is not UTF-8");
      expect(standIn.seen).toEqual([]);
    },
  );
});
