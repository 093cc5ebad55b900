import { afterEach, describe, expect, it, vi } from "vitest";
import { checkVariables } from "#server/doctor/check-host.ts";
import { checkSwitches, isPermitted } from "#server/switches.ts";
import { runHere } from "../support/command-line.ts";

afterEach(() => void vi.unstubAllEnvs());

const WEBHOOKS = "RUNYARD_WEBHOOKS_ALLOW_PRIVATE";

describe("a variable that permits something", () => {
  it.each<[Parameters<typeof isPermitted>[1], string]>([
    ["RUNYARD_MCP_LOOPBACK", "allow"],
    ["RUNYARD_MCP_PRIVATE_NETWORKS", "allow"],
    ["RUNYARD_OIDC_ALLOW_PRIVATE", "1"],
    [WEBHOOKS, "1"],
  ])("%s takes %s and the values of the default, and refuses others", (name, on) => {
    for (const value of [on, undefined, "", "0", "false"]) {
      expect(() => checkSwitches({ [name]: value })).not.toThrow();
      expect(isPermitted({ [name]: value }, name)).toBe(value === on);
    }
    for (const value of ["true", "yes", on === "1" ? "allow" : "1", `${on} `]) {
      const message = `${name} takes ${on}, or 0 for the default, not "${value}".`;
      expect(() => checkSwitches({ [name]: value })).toThrow(message);
    }
  });

  it.each([
    [["serve"]],
    [["serve", "--detach"]],
    [["worker", "--server", "http://127.0.0.1:9"]],
    [["agent", "run", "--task-id", "run", "--server-root-url", "http://127.0.0.1:9"]],
  ])("ends %j with the reason before it starts, where the value is another", async (args) => {
    vi.stubEnv("RUNYARD_API_KEY", "ryp_key");
    vi.stubEnv(WEBHOOKS, "true");
    const errors = `${WEBHOOKS} takes 1, or 0 for the default, not "true".`;
    expect(await runHere(args)).toEqual({ code: 1, output: "", errors });
  });

  it("is named by `doctor` where its value is another", () => {
    expect(checkVariables({ [WEBHOOKS]: "1" })).toEqual([]);
    expect(checkVariables({ [WEBHOOKS]: "true" })).toMatchObject([
      { name: "variables", status: "failed", detail: `${WEBHOOKS} takes 1, or 0 for the default, not "true".` },
    ]);
  });
});
