import { describe, expect, it } from "vitest";
import { parseFile } from "#shared/wire/providers/provider-settings.ts";
import { parseImageReference } from "#shared/wire/providers/registry-settings.ts";

describe("the reference of an image", () => {
  it.each([
    ["debian:12", { host: "docker.io", repository: "debian", tag: "12" }],
    ["acme/build", { host: "docker.io", repository: "acme/build" }],
    ["ghcr.io/acme/build:1.2", { host: "ghcr.io", repository: "ghcr.io/acme/build", tag: "1.2" }],
    ["127.0.0.1:5000/tools", { host: "127.0.0.1:5000", repository: "127.0.0.1:5000/tools" }],
    ["localhost/tools:a", { host: "localhost", repository: "localhost/tools", tag: "a" }],
    [
      `registry.example:5000/a/b:1@sha256:${"0".repeat(64)}`,
      {
        host: "registry.example:5000",
        repository: "registry.example:5000/a/b",
        tag: "1",
        digest: `sha256:${"0".repeat(64)}`,
      },
    ],
  ])("%s has the parts %j", (reference, parts) => {
    expect(parseImageReference(reference)).toEqual(parts);
  });
});

describe("the registries of the file of a single machine", () => {
  const parse = (registries: unknown) => parseFile({ registries });

  it("need no providers of models", () => {
    const registries = [
      { host: "ghcr.io", username: "acme", password: { env: "GHCR_TOKEN" } },
      { host: "127.0.0.1:5000", private: true, insecure: true },
    ];
    expect(parse(registries)).toEqual({ providers: [], registries });
    expect(parseFile({ providers: [] })).toEqual({ providers: [], registries: [] });
  });

  it.each([
    [[{ host: "https://ghcr.io" }], "registries[0].host: must be a host as references of images name it"],
    [[{ host: "ghcr.io/acme" }], "registries[0].host: must be a host"],
    [[{ host: "ghcr.io", token: "x" }], "registries[0].token: is unknown; remove it"],
    [[{ host: "ghcr.io", username: "acme" }], "registries[0]: username and password are required together"],
    [[{ host: "ghcr.io" }, { host: "ghcr.io" }], "registries[1].host: ghcr.io is named twice"],
    [[{}], 'registries[0].host: "host" is missing'],
  ])("%j is refused, naming the member", (registries, problem) => {
    expect(parse(registries)).toEqual({ problems: [expect.stringContaining(problem)] });
  });
});
