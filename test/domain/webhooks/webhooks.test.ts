import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { memorySecretVault } from "#shared/vault/memory-secret-vault.ts";
import { BACK_OFF_SECONDS, nextAttemptAt } from "#shared/webhooks/attempt-deliveries.ts";
import { type SendPorts, sendRequests } from "#shared/webhooks/send-webhooks.ts";
import { generateSigningSecret, signWebhook } from "#shared/webhooks/signature.ts";
import { verifyWebhook } from "../../../clients/typescript/src/webhook.ts";
import vectors from "../../clients/webhook-vectors.json" with { type: "json" };

describe("signWebhook", () => {
  it("signs the example of the Standard Webhooks specification", () => {
    const [{ secret, headers, body, now } = expect.fail()] = vectors.vectors;
    expect(signWebhook([secret], String(headers["webhook-id"]), now * 1000 + 999, body)).toEqual(headers);
  });

  it("signs with each secret, which a client that knows either one verifies", async () => {
    const secrets = [generateSigningSecret(), generateSigningSecret()];
    const headers = signWebhook(secrets, "w-1", Date.now(), '{"type":"run_created"}');
    expect(headers["webhook-signature"]).toMatch(/^v1,[^ ]+ v1,[^ ]+$/);
    for (const secret of secrets) {
      expect(await verifyWebhook(secret, headers, '{"type":"run_created"}')).toEqual({ type: "run_created" });
    }
    await expect(verifyWebhook(generateSigningSecret(), headers, '{"type":"run_created"}')).rejects.toThrow(
      "signature",
    );
  });
});

describe("generateSigningSecret", () => {
  it("returns 32 random bytes with the prefix of Standard Webhooks", () => {
    const secrets = [generateSigningSecret(), generateSigningSecret()];
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secrets[0]).not.toBe(secrets[1]);
  });
});

describe("nextAttemptAt", () => {
  it("makes ten attempts within 24 hours, whatever the random share", () => {
    for (const random of [0, 1]) {
      let now = 0;
      for (let tries = 1; tries <= BACK_OFF_SECONDS.length; tries++)
        now = nextAttemptAt(tries, now, random) ?? Infinity;
      expect(now).toBeGreaterThan(20 * 3_600_000);
      expect(now).toBeLessThanOrEqual(24 * 3_600_000);
    }
    expect(nextAttemptAt(BACK_OFF_SECONDS.length + 1, 0)).toBeUndefined();
  });
});

describe("sendRequests", () => {
  const received: { headers: IncomingHttpHeaders; body: string; method: string | undefined }[] = [];
  let respond: (response: ServerResponse) => void;
  let url: string;
  let ports: SendPorts & { readonly webhookSecrets: ReturnType<typeof memorySecretVault> };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      received.push({ headers: request.headers, body, method: request.method });
      respond(response);
    });
  });
  beforeEach(async () => {
    received.length = 0;
    respond = (response) => void response.writeHead(204).end();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port }: AddressInfo = JSON.parse(JSON.stringify(server.address()));
    url = `http://127.0.0.1:${port}/hook?a=1`;
    ports = {
      webhookSecrets: memorySecretVault(),
      fetch: createOutwardFetch({ allowsPrivate: true, timeoutMs: 300 }),
      now: Date.now,
    };
    await ports.webhookSecrets.put("team", "secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const send = async (to = url, secret_id = "secret") => {
    const [result] = await sendRequests([{ id: "w-1", url: to, body: '{"a":1}', team_uid: "team", secret_id }], ports);
    return result;
  };

  it("posts a signed body, and returns the status and duration", async () => {
    const before = Date.now();
    const result = await send();
    expect(result).toEqual({ id: "w-1", at: expect.any(Number), duration_ms: expect.any(Number), status_code: 204 });
    const [{ headers, body, method } = expect.fail()] = received;
    expect([method, body, headers["content-type"]]).toEqual(["POST", '{"a":1}', "application/json"]);
    const time = Number(headers["webhook-timestamp"]);
    expect(time).toBeGreaterThanOrEqual(Math.floor(before / 1000));
    expect(headers).toMatchObject(
      signWebhook(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "w-1", time * 1000, '{"a":1}'),
    );
  });

  it("does not follow a redirect", async () => {
    respond = (response) => void response.writeHead(307, { location: url }).end();
    expect(await send()).toMatchObject({ status_code: 307 });
    expect(received).toHaveLength(1);
  });

  it("returns the status of a response whose body never ends, and nothing of the body", async () => {
    respond = (response) => {
      response.writeHead(500, { "content-type": "text/plain" });
      response.write("a secret of the receiver");
    };
    const result = await send();
    expect(result).toMatchObject({ status_code: 500 });
    expect(JSON.stringify(result)).not.toContain("receiver");
  });

  it("gives up a receiver that switches to another protocol, and sends the others of the batch", async () => {
    respond = (response) => {
      if (received.length > 1) return void response.writeHead(204).end();
      response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n");
    };
    const results = await sendRequests(
      ["w-1", "w-2"].map((id) => ({ id, url, body: "{}", team_uid: "team", secret_id: "secret" })),
      ports,
    );
    expect(results.map(({ error, status_code }) => error ?? status_code).toSorted()).toEqual([
      204,
      "the request failed",
    ]);
  }, 10_000);

  it("gives up a receiver that does not respond in time", async () => {
    respond = () => undefined;
    expect(await send()).toMatchObject({ error: "no response within 10 seconds" });
  });

  it.each([
    ["a port without a server", "http://127.0.0.1:1/", "the connection failed: ECONNREFUSED"],
    ["a name that does not exist", "http://receiver.invalid/", /^the connection failed: E[A-Z_]+$/],
    [
      "cloud metadata, even where private addresses are allowed",
      "http://169.254.169.254/",
      "the address is not on the internet",
    ],
  ])("returns the reason for %s", async (_, to, error) => {
    expect(await send(to)).toMatchObject({ error: typeof error === "string" ? error : expect.stringMatching(error) });
    expect(received).toEqual([]);
  });

  it("connects to no private address by default, even through a name", async () => {
    ports = { ...ports, fetch: createOutwardFetch({ allowsPrivate: false }) };
    for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]) {
      const to = new URL(url.replace("127.0.0.1", host));
      to.protocol = "https:";
      expect(await send(to.href)).toMatchObject({ error: "the address is not on the internet" });
    }
    expect(await send(url), "plain HTTP").toMatchObject({ error: "the address is not on the internet" });
    expect(received).toEqual([]);
  });

  it("signs with the previous secret as well, while it exists", async () => {
    const secrets = { current: generateSigningSecret(), previous: generateSigningSecret() };
    for (const [id, secret] of Object.entries(secrets)) await ports.webhookSecrets.put("team", id, secret);
    const request = { id: "w-1", url, body: "{}", team_uid: "team", secret_id: "current" };
    await sendRequests([{ ...request, previous_secret_id: "previous" }], ports);
    await sendRequests([{ ...request, previous_secret_id: "gone" }], ports);
    const [both, one] = received.map(({ headers }) => headers);
    for (const secret of Object.values(secrets)) await verifyWebhook(secret, both ?? {}, "{}");
    expect(String(one?.["webhook-signature"]).split(" ")).toHaveLength(1);
    await verifyWebhook(secrets.current, one ?? {}, "{}");
  });

  it("sends nothing without the secret, and sends the others of the batch", async () => {
    const requests = ["gone", "secret"].map((secret_id) => ({
      id: secret_id,
      url,
      body: "{}",
      team_uid: "team",
      secret_id,
    }));
    expect(await sendRequests(requests, ports)).toMatchObject([
      { id: "gone", error: "the signing secret is missing" },
      { id: "secret", status_code: 204 },
    ]);
    expect(received).toHaveLength(1);
  });
});
