import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openImage } from "../../../harness/images/open-image.ts";
import { type LayerFile, type Registry, startRegistry } from "../../support/image-registry.ts";

vi.setConfig({ testTimeout: 300_000 });

const TREE: LayerFile[] = [{ name: "bin/" }, { name: "bin/sh", content: "#!\n", mode: 0o755 }];

describe("openImage", () => {
  let registry: Registry;
  let directory: string;

  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterAll(async () => registry[Symbol.asyncDispose]());
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "runyard-images-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const open = (reference: string, runId: string) =>
    openImage(`${registry.host}/${reference}`, {
      settings: {
        directory,
        registries: [{ host: registry.host, private: true, insecure: true }],
        checkMs: 0,
        limits: { bytes: 50 * 1024 * 1024, files: 3_000 },
      },
      runId,
      timeoutMs: 240_000,
      signal: new AbortController().signal,
    });

  it("pulls an image once that two references name at the same time", async () => {
    const references = ["acme/same:1", "acme/same:2"];
    const digests = references.map((reference) => registry.put(reference, { layers: [TREE] }));
    registry.requests.length = 0;
    const opened = await Promise.all(references.map((reference) => open(reference, reference)));
    expect(opened.map(({ digest }) => digest)).toEqual(digests);
    const blobs = registry.requests.flatMap(({ path }) => (path.includes("/blobs/") ? [path] : []));
    expect(blobs).toEqual([...new Set(blobs)]);
  });

  it("uses no copy after the registry has refused access, even if the registry does not respond later", async () => {
    registry.put("acme/revoked:1", { layers: [TREE] });
    await open("acme/revoked:1", "a");
    const respond = (status: number) => registry.respond((_, response) => void response.writeHead(status).end());
    try {
      respond(503);
      await expect(open("acme/revoked:1", "b")).resolves.toMatchObject({
        detail: expect.stringContaining("did not answer"),
      });
      respond(403);
      await expect(open("acme/revoked:1", "c")).rejects.toThrow("could not be used");
      respond(503);
      await expect(open("acme/revoked:1", "d")).rejects.toThrow("could not be used");
    } finally {
      registry.respond(undefined);
    }
  });
});
