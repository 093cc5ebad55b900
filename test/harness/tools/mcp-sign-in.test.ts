import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ControlPlane } from "#harness/control-plane/control-plane.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { connect } from "#harness/tools/remote/mcp-connection.ts";
import type { Values } from "#harness/tools/remote/mcp-settings.ts";
import { fixedValues, renewableValues } from "#harness/tools/remote/mcp-tokens.ts";
import { OAuthStandIn } from "../../support/oauth-stand-in.ts";
import { createConnectOptions } from "../support/connect-options.ts";

let oauth: OAuthStandIn;
beforeEach(async () => {
  oauth = await OAuthStandIn.start();
});
afterEach(() => oauth[Symbol.asyncDispose]());

const signal = new AbortController().signal;
const authorized = { authorization: "Bearer ${TRACKER}" };

function connectWith(headers: Readonly<Record<string, string>>, values: Values = {}) {
  const redactor = createRedactor(Object.values(values));
  return connect({ url: oauth.mcpUrl, headers }, createConnectOptions({ redactor, values: fixedValues(values) }));
}

/** Connects with a token that the service renews by the stand-in's own refresh token, unless it has a problem. */
function connectRenewably(value: string, renewSecrets: ControlPlane["renewSecrets"]) {
  const redactor = createRedactor([value]);
  const secrets = [{ name: "TRACKER", value, renewable: true as const }];
  const values = renewableValues({ plane: { renewSecrets }, redactor, secrets, values: { TRACKER: value } });
  return connect({ url: oauth.mcpUrl, headers: authorized }, createConnectOptions({ redactor, values }));
}

describe("an MCP server with OAuth", () => {
  it("is used with a token that is a secret of the run", async () => {
    oauth.accessToken = "t0ken-of-the-person";
    const connection = await connectWith(authorized, { TRACKER: "t0ken-of-the-person" });
    expect(connection.tools.map(({ name }) => name)).toEqual(["read"]);
    expect(await connection.call("read", {}, signal)).toMatchObject({ content: [{ text: "issue 1" }] });
    await connection.close();
  });

  it("names the secret whose token it refuses, and how to replace it", async () => {
    const refused = connectWith(authorized, { TRACKER: "an-expired-token" });
    await expect(refused).rejects.toThrow(
      /^127\.0\.0\.1:\d+ refuses the token of the secret TRACKER \(401\): run `runyard mcp refresh TRACKER`, or sign in again/,
    );
    await expect(refused).rejects.not.toThrow("an-expired-token");
  });

  it("says so too when the token expires during the run", async () => {
    oauth.accessToken = "t0ken-of-the-person";
    const connection = await connectWith(authorized, { TRACKER: "t0ken-of-the-person" });
    oauth.revoke();
    await expect(connection.call("read", {}, signal)).rejects.toThrow("runyard mcp refresh TRACKER");
    await connection.close();
  });

  it("gets a renewed token where its server refuses the one at hand, during the run too, and once for calls at the same time", async () => {
    const renewed: (readonly string[])[] = [];
    const connection = await connectRenewably("an-expired-token", async (names) => {
      renewed.push(names);
      oauth.accessToken = `t0ken-number-${renewed.length}`;
      return [{ name: "TRACKER", value: oauth.accessToken, renewable: true }];
    });
    expect(renewed).toEqual([["TRACKER"]]);
    oauth.revoke();
    const calls = await Promise.all([connection.call("read", {}, signal), connection.call("read", {}, signal)]);
    for (const result of calls) expect(result).toMatchObject({ content: [{ text: "issue 1" }] });
    expect(renewed).toHaveLength(2);
    await connection.close();
  });

  it("says what the service says where its token is not renewed", async () => {
    const problem = "auth.example.com refuses to renew its token (invalid_grant): sign in again";
    const refused = connectRenewably("an-expired-token", async () => [
      { name: "TRACKER", value: "an-expired-token", renewable: true, problem },
    ]);
    await expect(refused).rejects.toThrow(`refuses the token of the secret TRACKER (401): ${problem}`);
    await expect(connectRenewably("an-expired-token", () => Promise.reject(new Error("gone")))).rejects.toThrow(
      "runyard mcp refresh TRACKER",
    );
  });

  it("says how to sign in where the configuration has no token", async () => {
    await expect(connectWith({})).rejects.toThrow(/requires a sign-in \(401\): run `runyard mcp login`.*--secret NAME/);
  });
});
