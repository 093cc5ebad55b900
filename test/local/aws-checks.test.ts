import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { bedrock, bedrockClient } from "#shared/aws/bedrock-provider.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { withReadErrors } from "#shared/model-gateway/provider-response.ts";
import { checkBedrock, checkConcurrency } from "../../operate/aws-checks.ts";

const MODEL = "global.anthropic.claude-sonnet-5-5";
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Starts a server that responds like AWS: with a body, or an error of that name. Returns client settings. */
async function standIn(status: number, body: object, error?: string) {
  const server = createServer((request, response) => {
    request.resume();
    const type = error === undefined ? {} : { "x-amzn-errortype": error };
    response.writeHead(status, { "content-type": "application/json", ...type }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  };
}

/** Errors of Bedrock with the messages of AWS, each with what its remedy names. */
const REFUSALS: readonly (readonly [string, number, string, string, RegExp])[] = [
  [
    "without the use-case form",
    404,
    "ResourceNotFoundException",
    "Model use case details have not been submitted for this account. Fill out the Anthropic use case details form before using " +
      "the model. If you have already filled out the form, try again in 15 minutes.",
    /Submit the use-case form/,
  ],
  [
    "whose principal lacks the rights of AWS Marketplace",
    403,
    "AccessDeniedException",
    "Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions " +
      "(aws-marketplace:ViewSubscriptions, aws-marketplace:Subscribe) to enable access to this model.",
    /principal with aws-marketplace:Subscribe/,
  ],
  [
    "without a payment method",
    403,
    "AccessDeniedException",
    "Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided. Your AWS Marketplace " +
      "subscription for this model cannot be completed at this time.",
    /payment method/,
  ],
  [
    "without access to the model",
    403,
    "AccessDeniedException",
    "You don't have access to the model with the specified model ID.",
    /Enable the model/,
  ],
  [
    "whose principal may not call models",
    403,
    "AccessDeniedException",
    "User: arn:aws:sts::1:assumed-role/a is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:::foundation-model/x " +
      "because no identity-based policy allows the bedrock:InvokeModel action",
    /Allow the principal bedrock:InvokeModel/,
  ],
  [
    "whose organization denies the call",
    403,
    "AccessDeniedException",
    "User: a is not authorized to perform: bedrock:InvokeModel on resource: b with an explicit deny in a service control policy",
    /policy of the organization/,
  ],
  ["in another region", 400, "ValidationException", "The provided model identifier is invalid.", /Check AWS_REGION/],
  ["with a low quota", 429, "ThrottlingException", "Too many tokens per day", /Service Quotas, Amazon Bedrock/],
];

describe("npm run aws -- doctor", () => {
  it.each(REFUSALS)("names the remedy for an account %s", async (_, status, error, message, remedy) => {
    const check = await checkBedrock(MODEL, await standIn(status, { message }, error));
    expect(check).toMatchObject({ status: "failed", remedy: expect.stringMatching(remedy) });
    expect(check.detail).toContain(message);
  });

  it("reports a model that responds, and a region that cannot be reached", async () => {
    expect(await checkBedrock(MODEL, await standIn(200, { content: [] }))).toMatchObject({ status: "ok" });
    const unreachable = { ...(await standIn(200, {})), endpoint: "http://127.0.0.1:9" };
    expect(await checkBedrock(MODEL, unreachable)).toMatchObject({ status: "failed" });
  });

  it("warns of an account with few concurrent executions", async () => {
    const check = async (quota: number) =>
      (await checkConcurrency(await standIn(200, { AccountLimit: { ConcurrentExecutions: quota } }))).status;
    expect([await check(1_000), await check(10)]).toEqual(["ok", "warning"]);
    expect(await checkConcurrency(await standIn(403, { message: "no" }, "AccessDeniedException"))).toMatchObject({
      status: "failed",
    });
  });
});

describe("the model gateway", () => {
  it.each(REFUSALS)("responds with the remedy for an account %s", async (_, status, error, message, remedy) => {
    const provider = bedrock(bedrockClient(await standIn(status, { message }, error)));
    const request = { model: MODEL, messages: [] };
    const signal = AbortSignal.timeout(10_000);
    const refusal = await provider({ dialect: messages, request, headers: {}, signal });
    expect(refusal.status).toBe(status);
    const read = withReadErrors(async () => refusal, { name: "bedrock" }, messages);
    const response = JSON.stringify(await (await read({ dialect: messages, request, headers: {}, signal })).json());
    expect(response).toMatch(remedy);
    // A refusal may name principals of the deployment's account.
    expect(response.includes(message)).toBe(status !== 403);
  });
});
