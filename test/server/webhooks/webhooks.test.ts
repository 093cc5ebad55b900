import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyWebhook } from "../../../clients/typescript/src/webhook.ts";
import { eventually } from "../support/eventually.ts";
import { createRun, useServers, waitForState } from "../support/served.ts";

const servers = useServers();
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
let status = 200;
let url: string;
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += String(chunk)));
  request.on("end", () => {
    received.push({ headers: request.headers, body });
    response.writeHead(status).end();
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port }: AddressInfo = JSON.parse(JSON.stringify(receiver.address()));
  url = `http://127.0.0.1:${port}/events`;
});
afterAll(() => new Promise((resolve) => receiver.close(resolve)));

const environment = { RUNYARD_WEBHOOKS_ALLOW_PRIVATE: "1" };

describe("webhooks of a single machine", () => {
  it("deliver signed events of a run, also those before the process was killed, and again on request", async () => {
    const directory = servers.directory();
    let server = await servers.start(directory, { environment });
    const { body: webhook } = await server.call("POST", "/agent/webhooks", {
      url,
      event_types: ["run_created", "run_succeeded"],
    });
    const read = async () => (await server.call("GET", `/agent/webhooks/${webhook.uid}/deliveries`)).body.deliveries;
    const states = async () => (await read()).map(({ state }: { state: string }) => state);
    status = 500;
    const run = await createRun(server, "true");
    await waitForState(server, run, "SUCCEEDED");
    await server.kill();
    server = await servers.start(directory, { environment });
    await eventually(async () => expect(await states()).toEqual(["pending", "pending"]));
    // An attempt of the first one may have been under way: its result is awaited for longer than this test.
    await eventually(async () => expect((await read())[0].attempts).toMatchObject([{ status_code: 500 }]));
    status = 200;
    received.length = 0;
    await server.call("POST", `/agent/webhooks/${webhook.uid}/redeliver?from_sequence=1`);
    // The next minute begins with the start.
    await server.kill();
    server = await servers.start(directory, { environment });
    await eventually(async () => expect(await states()).toEqual(["delivered", "delivered"]));
    const events = await Promise.all(received.map(({ headers, body }) => verifyWebhook(webhook.secret, headers, body)));
    // Both are sent at the same time.
    expect(events.toSorted((a, b) => a.data.sequence - b.data.sequence)).toMatchObject([
      { type: "run_created", data: { run_id: run, sequence: 1, state: "QUEUED" } },
      { type: "run_succeeded", data: { run_id: run, sequence: 2, state: "SUCCEEDED" } },
    ]);
  }, 180_000);

  it("include the end of a run with a notify_url, signed with the secret of its creation", async () => {
    const server = await servers.start(servers.directory(), { environment });
    received.length = 0;
    const { body: run } = await server.call("POST", "/agent/runs", {
      prompt: "run nothing",
      config: { model_id: "local/runbook" },
      notify_url: url,
    });
    await eventually(async () => expect(received).toHaveLength(1));
    const [{ headers, body } = expect.fail()] = received;
    expect(await verifyWebhook(run.notify_secret, headers, body)).toMatchObject({ data: { run_id: run.run_id } });
  });

  it("are delivered while the receiver of another webhook does not respond to many events", async () => {
    const server = await servers.start(servers.directory(), { environment });
    const silent = createServer((request) => void request.resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port }: AddressInfo = JSON.parse(JSON.stringify(silent.address()));
    try {
      await server.call("POST", "/agent/webhooks", { url: `http://127.0.0.1:${port}/` });
      const connections = () => new Promise<number>((resolve) => silent.getConnections((_, count) => resolve(count)));
      for (let count = 0; count < 10; count++) await createRun(server, "true");
      await eventually(async () => expect(await connections()).toBe(2));
      await server.call("POST", "/agent/webhooks", { url, event_types: ["run_created"] });
      received.length = 0;
      status = 200;
      const began = Date.now();
      await createRun(server, "true");
      await eventually(async () => expect(received).toHaveLength(1));
      // The other receiver has ten seconds to respond.
      expect(Date.now() - began).toBeLessThan(8_000);
      expect(await connections()).toBe(2);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  }, 120_000);

  it("refuse private addresses by default", async () => {
    const server = await servers.start(servers.directory());
    expect((await server.call("POST", "/agent/webhooks", { url })).status).toBe(400);
  });
});
