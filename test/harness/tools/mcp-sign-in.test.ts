import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { connect } from "#harness/tools/remote/mcp-connection.ts";
import type { Values } from "#harness/tools/remote/mcp-settings.ts";
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
  return connect({ url: oauth.mcpUrl, headers }, createConnectOptions({ redactor, values }));
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

  it("says how to sign in where the configuration has no token", async () => {
    await expect(connectWith({})).rejects.toThrow(/requires a sign-in \(401\): run `runyard mcp login`.*--secret NAME/);
  });
});
