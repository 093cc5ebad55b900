import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAppPorts } from "#server/github-app.ts";
import { memoryTable } from "#shared/table/memory-table.ts";

const FILE = {
  id: 314159,
  slug: "runyard",
  client_id: "Iv23li",
  client_secret: "a-client-secret",
  webhook_secret: "a-webhook-secret",
  pem: "-----BEGIN RSA PRIVATE KEY-----",
};

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "runyard-github-app-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const api = { apiUrl: "https://api.github.com", fetch, now: Date.now };
const create = (environment: NodeJS.ProcessEnv = {}) => createAppPorts(directory, environment, memoryTable(), api);
const write = (content: string, mode = 0o600) => {
  const file = path.join(directory, "github-app.json");
  writeFileSync(file, content);
  chmodSync(file, mode);
};

describe("createAppPorts", () => {
  it("reads the App from the file in the data directory", async () => {
    write(JSON.stringify(FILE));
    const ports = create();
    expect(await ports.appWebhookSecret()).toBe(FILE.webhook_secret);
    expect(await ports.appClient?.clientSecret()).toBe(FILE.client_secret);
    expect(ports.appClient?.id).toBe("314159");
    expect(ports.app).toBeDefined();
    expect(ports.appTokens).toBeDefined();
  });

  it("has no App without the file, and no team for its installations but the one of the settings", async () => {
    const ports = create();
    expect([ports.app, ports.appClient, ports.appTokens, await ports.appWebhookSecret()]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
    expect(await ports.ownerOf(7)).toBeUndefined();
    expect(await create({ RUNYARD_GITHUB_APP_TEAM: "alpha" }).ownerOf(7)).toEqual({ team_uid: "alpha" });
  });

  it("refuses a file that others can read, and one that is not of the setup", () => {
    write(JSON.stringify(FILE), 0o644);
    expect(() => create()).toThrow(/github-app\.json/);
    write("{}");
    expect(() => create()).toThrow(/runyard github setup/);
  });
});
