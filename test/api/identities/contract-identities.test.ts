import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { startedRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

describe("POST /agent/identities", () => {
  // @contract identities.name
  it("accepts a name of 128 characters", async () => {
    const name = "😀".repeat(128);
    expect(await user.post("/agent/identities", { name })).toMatchObject({ status: 201, body: { name } });
  });
});

describe("an API key", () => {
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const base62 = (value: number): string =>
    value === 0 ? "" : base62(Math.floor(value / 62)) + DIGITS.charAt(value % 62);

  // @contract identities.keys.form
  it("ends with the CRC-32 of its other characters in base62", async () => {
    const { body } = await user.post("/agent/keys", { name: "laptop" });
    const run = await startedRun(plane);
    for (const key of [body.key, (await plane.agent()).key, run.key]) {
      const [, random, checksum] = /^ry[par]_([0-9A-Za-z]{37})([0-9A-Za-z]{6})$/.exec(key) ?? [];
      expect(checksum).toBe(base62(crc32(random ?? "")).padStart(6, "0"));
    }
  });

  // @contract identities.keys.hashed
  it("is stored as its SHA-256 only", async () => {
    const { body } = await user.post("/agent/keys", { name: "laptop" });
    const run = await startedRun(plane);
    const stored = JSON.stringify(plane.table.all());
    for (const key of [body.key, run.key]) {
      expect(stored).toContain(createHash("sha256").update(key).digest("hex"));
      expect(stored).not.toContain(key);
      expect(stored).not.toContain(key.slice(4, 41));
    }
  });
});
