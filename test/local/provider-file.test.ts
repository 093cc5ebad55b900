import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localModels } from "../../server/host/models.ts";
import { findFileWarnings, readProviderFile } from "../../server/host/provider-file.ts";

const SERVER = { name: "box", kind: "compatible", base_url: "http://127.0.0.1:1/v1", models: ["qwen"] };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "runyard-providers-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(content: unknown): void {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(path.join(directory, "runyard.json"), text, { mode: 0o600 });
}

const problemOf = (content: unknown): string => {
  write(content);
  try {
    readProviderFile(directory);
    return "none";
  } catch (error) {
    const details = error instanceof Error && "details" in error ? error.details : [];
    return `${error instanceof Error ? error.message : error} ${JSON.stringify(details)}`;
  }
};

describe("the file of providers", () => {
  it("adds providers with names of their own, without keys and addresses in the settings", () => {
    write({
      providers: [
        { ...SERVER, key: "secret-1", headers: { "x-title": "secret-2" }, timeouts: { first_byte_seconds: 600 } },
        { name: "claude", kind: "anthropic", key: { env: "CLAUDE_KEY" } },
      ],
    });
    const { named, variables } = localModels({ CLAUDE_KEY: " secret-3 " }, directory);
    expect(named.map(({ name, readKey }) => [name, readKey?.()])).toEqual([
      ["box", "secret-1"],
      ["claude", "secret-3"],
    ]);
    expect(JSON.parse(variables["NAMED_PROVIDERS"] ?? "")).toEqual([
      { name: "box", kind: "compatible", models: [{ name: "qwen" }], is_custom: true },
      { name: "claude", kind: "anthropic", is_custom: false },
    ]);
    expect(JSON.stringify(variables)).not.toMatch(/secret|127\.0\.0\.1/);
  });

  it("yields to the environment, and is not required", () => {
    expect(localModels({}, directory).named).toEqual([]);
    write({ providers: [{ ...SERVER, name: "compatible" }, SERVER] });
    const environment = { RUNYARD_COMPATIBLE_BASE_URL: "http://other/v1", RUNYARD_COMPATIBLE_MODELS: "a" };
    expect(localModels(environment, directory).named.map(({ name }) => name)).toEqual(["box"]);
    expect(localModels({}, directory).named.map(({ name }) => name)).toEqual(["compatible", "box"]);
  });

  it.each([
    [{ providers: [{ ...SERVER, url: "x" }] }, "providers[0].url: is unknown"],
    [{ models: [] }, "models: is unknown"],
    [{ providers: [{ ...SERVER, name: "local" }] }, "providers[0].name: is reserved"],
    [{ providers: [{ ...SERVER, name: "A/b" }] }, "providers[0].name: must be 1 to 40"],
    [{ providers: [{ ...SERVER, name: "openai" }] }, "providers[0].name: openai is reserved for the kind openai"],
    [{ providers: [SERVER, SERVER] }, "providers[1].name: box is named twice"],
    [{ providers: [{ ...SERVER, kind: "sagemaker" }] }, "providers[0].kind: must be"],
    [
      { providers: [{ name: "bedrock", kind: "bedrock", key: "k" }] },
      "providers[0].base_url: is required for the kind",
    ],
    [{ providers: [{ ...SERVER, name: "bedrock" }] }, "providers[0].name: bedrock is reserved for the kind bedrock"],
    [{ providers: [{ ...SERVER, base_url: "file:///etc" }] }, "providers[0].base_url: must be an http or https URL"],
    [
      { providers: [{ ...SERVER, base_url: "http://u:secret@x/v1" }] },
      "providers[0].base_url: must not contain a user",
    ],
    [{ providers: [{ ...SERVER, base_url: "http://x/v1?key=secret" }] }, "providers[0].base_url: must have no query"],
    [{ providers: [{ name: "box", kind: "compatible", models: ["a"] }] }, "providers[0].base_url: is required"],
    [{ providers: [{ name: "g", kind: "google", key: "secret" }] }, "providers[0].models: is required"],
    [{ providers: [{ name: "a", kind: "anthropic" }] }, "providers[0].key: is required"],
    [{ providers: [{ ...SERVER, models: [] }] }, "providers[0].models: must name a model"],
    [
      { providers: [{ name: "a", kind: "anthropic", key: "secret", models: [{ name: "m", tools: false }] }] },
      "providers[0].models: tools is only for the kind compatible",
    ],
    [{ providers: [{ ...SERVER, headers: { Host: "secret" } }] }, "providers[0].headers: must not contain host"],
    [{ providers: [{ ...SERVER, headers: { a: "secret\n" } }] }, "providers[0].headers.a: must be printable"],
    [{ providers: [{ ...SERVER, timeouts: { idle_seconds: 801 } }] }, "timeouts.idle_seconds: must be at most 800"],
    [
      { providers: [{ ...SERVER, timeouts: { first_byte_seconds: 9, total_seconds: 8 } }] },
      "providers[0].timeouts.total_seconds: must be at least",
    ],
    [{ providers: [{ kind: "compatible" }] }, 'providers[0].name: \\"name\\" is missing'],
    ['{\n"providers": [secret]}', "is not JSON: see line 2"],
    ['{\n"providers":\n[{"name": "box", "kind": "compatible"},]\n}', "is not JSON: see line 3"],
    ['{"providers": [],\n"secret" 1}', "is not JSON: see line 2"],
  ])("is refused with its member and the reason: %j", (content, words) => {
    expect(problemOf(content)).toContain(words);
    expect(problemOf(content), "values may be keys").not.toContain("secret");
  });

  it("names keys that are missing, and reads the file of a key for each call", () => {
    write({
      providers: [
        { ...SERVER, key: { env: "GONE" } },
        { ...SERVER, name: "second", key: { file: "second.key" } },
      ],
    });
    expect(findFileWarnings(directory, {})).toEqual([
      expect.stringMatching(/provider box is missing: set the variable GONE/),
      expect.stringMatching(/provider second is missing: set its file/),
    ]);
    const [, second] = localModels({}, directory).named;
    writeFileSync(path.join(directory, "second.key"), "k-1\n");
    expect(second?.readKey?.()).toBe("k-1");
    writeFileSync(path.join(directory, "second.key"), "k-2\n");
    expect(second?.readKey?.()).toBe("k-2");
    expect(findFileWarnings(directory, { GONE: "k" })).toEqual([]);
  });

  it("is reported if others can read a key in it", () => {
    write({ providers: [{ ...SERVER, key: "secret" }] });
    expect(findFileWarnings(directory, {})).toEqual([]);
    chmodSync(path.join(directory, "runyard.json"), 0o644);
    expect(findFileWarnings(directory, {})).toEqual([expect.stringMatching(/Other users can read .* chmod 600/)]);
    write({ providers: [SERVER] });
    expect(findFileWarnings(directory, {}), "it has no key").toEqual([]);
  });
});
