import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { computeFingerprint } from "../../emulator/deployment.ts";
import { emulatorEnvironment } from "../../emulator/emulator.ts";
import { localPaths } from "../../server/host/paths.ts";
import { firstFreePort, isFree } from "../../server/host/ports.ts";

describe("the fingerprint of a deployment", () => {
  let root: string;
  const settings = { baseUrl: "http://127.0.0.1:4500/api/v1", webUrl: "http://127.0.0.1:4500", emulatorPort: 14_566 };

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), "fingerprint-"));
    await mkdir(path.join(root, "functions/runs"), { recursive: true });
    await mkdir(path.join(root, "docs"));
    await writeFile(path.join(root, "functions/runs/a.ts"), "one");
    await writeFile(path.join(root, "package-lock.json"), "{}");
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test("is the same for the same sources and settings, whatever else changes", async () => {
    const first = await computeFingerprint(root, settings);
    await writeFile(path.join(root, "docs/page.md"), "new");
    await writeFile(path.join(root, "functions/runs/a.ts"), "one");
    expect(await computeFingerprint(root, settings)).toBe(first);
  });

  test("changes with a file's content, its name, a dependency and a port", async () => {
    const seen = new Set([await computeFingerprint(root, settings)]);
    await writeFile(path.join(root, "functions/runs/a.ts"), "two");
    seen.add(await computeFingerprint(root, settings));
    await writeFile(path.join(root, "functions/runs/b.ts"), "two");
    seen.add(await computeFingerprint(root, settings));
    await writeFile(path.join(root, "package-lock.json"), "{ }");
    seen.add(await computeFingerprint(root, settings));
    seen.add(await computeFingerprint(root, { ...settings, emulatorPort: 14_567 }));
    expect(seen.size).toBe(5);
  });
});

describe("the emulator's environment", () => {
  test("contains no credential and no setting of the user", () => {
    const user = {
      PATH: "/usr/bin",
      HOME: "/home/somebody",
      AWS_PROFILE: "production",
      AWS_SECRET_ACCESS_KEY: "secret",
      GITHUB_TOKEN: "secret",
      NODE_OPTIONS: "--inspect",
      SSL_CERT_FILE: "/certs.pem",
      NO_PROXY: "internal",
    };
    const environment = emulatorEnvironment(localPaths({}), 14_566, user);
    expect(JSON.stringify(environment)).not.toMatch(/secret|production|inspect|somebody/);
    expect(environment).toMatchObject({ SSL_CERT_FILE: "/certs.pem", NO_PROXY: "internal,127.0.0.1,localhost" });
  });

  test("puts the current Node first, because functions run on the first one", () => {
    const { PATH } = emulatorEnvironment(localPaths({}), 14_566, { PATH: "/usr/bin" });
    expect(PATH).toBe(`${path.dirname(process.execPath)}:/usr/bin`);
  });
});

describe("ports", () => {
  test("are the next free ones if the preferred one is busy", async () => {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const busy = typeof address === "object" && address !== null ? address.port : 0;
    expect(await isFree(busy)).toBe(false);
    expect(await firstFreePort(busy)).toBeGreaterThan(busy);
    await new Promise((resolve) => server.close(resolve));
    expect(await firstFreePort(busy)).toBe(busy);
  });
});
