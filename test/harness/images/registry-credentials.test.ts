import { describe, expect, it } from "vitest";
import { findCredentials } from "#harness/images/registry-credentials.ts";

const found = { username: "acme", password: "pass:word" };
const auth = Buffer.from("acme:pass:word").toString("base64");
const secret = (auths: unknown) => JSON.stringify({ auths, credsStore: "desktop" });

describe("findCredentials", () => {
  it.each([
    ["a user name and a password", { "ghcr.io": found }, "ghcr.io"],
    ["both in base64, of which the password may have a colon", { "ghcr.io": { auth } }, "ghcr.io"],
    ["the address of an API", { "https://ghcr.io/v2/": { auth } }, "ghcr.io"],
    ["a host with a port", { "127.0.0.1:5000": { auth } }, "127.0.0.1:5000"],
    ["the address that Docker's registry has", { "https://index.docker.io/v1/": { auth } }, "docker.io"],
  ])("finds %s", (_, auths, host) => {
    expect(findCredentials(secret(auths), host)).toEqual(found);
  });

  it("finds none of another host", () => {
    for (const host of ["ghcr.io.example", "example", "docker.io"])
      expect(findCredentials(secret({ "ghcr.io": { auth } }), host)).toBeUndefined();
  });

  it.each([
    ["no JSON", "acme:s3cret", /must be JSON such as/],
    ["JSON without auths", JSON.stringify({ "ghcr.io": found }), /must be JSON such as/],
    [
      "an entry without a password",
      secret({ "ghcr.io": { username: "s3cret" } }),
      /no username and password, and no auth/,
    ],
  ])("refuses %s without quoting it", (_, value, message) => {
    const find = () => findCredentials(value, "ghcr.io");
    expect(find).toThrow(message);
    expect(find).not.toThrow(/s3cret/);
  });
});
