import { createServer } from "node:http";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { bedrock, bedrockClient } from "#shared/aws/bedrock-provider.ts";
import { setClientHook } from "#shared/aws/client-settings.ts";
import { eventBridgeScheduler } from "#shared/aws/eventbridge-scheduler.ts";
import { openFunctionCaller } from "#shared/aws/invocation-part.ts";
import { sqsRunQueue } from "#shared/aws/sqs-queue.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { respondToCalls } from "../support/aws-responses.ts";

const config = { region: "eu-west-1", credentials: { accessKeyId: "id", secretAccessKey: "secret" } };
const parse = (call = "") => [call.split(" ", 1)[0], JSON.parse(call.slice(call.indexOf(" ") + 1))];

describe("the run queues on SQS", () => {
  it("get a message for its owner's group, with the requested delay", async () => {
    const client = new SQSClient(config);
    const calls = respondToCalls(client, {});
    const queue = sqsRunQueue(client, { runs: () => "runs-url", ends: () => "ends-url" });
    await queue.sendRun("run-1", { type: "Team", uid: "t" });
    await queue.sendRun("run-2", { type: "User", uid: "u" }, 30);
    await queue.sendEnd("run-3", { type: "Team", uid: "t" });
    const message = (QueueUrl: string, run_id: string, MessageGroupId: string, more: object = {}) => [
      "SendMessage",
      { QueueUrl, MessageBody: JSON.stringify({ v: 1, run_id }), MessageGroupId, ...more },
    ];
    expect(calls.map(parse)).toEqual([
      message("runs-url", "run-1", "TEAM#t"),
      message("runs-url", "run-2", "USER#u", { DelaySeconds: 30 }),
      message("ends-url", "run-3", "TEAM#t"),
    ]);
  });
});

describe("a timer of EventBridge Scheduler", () => {
  it("fires exactly at its time, reports that time, and is retried for ten minutes", async () => {
    const client = new SchedulerClient(config);
    const calls = respondToCalls(client, {});
    const settings = { group: "ours", functionArn: "arn:function", roleArn: "arn:role" };
    const scheduler = eventBridgeScheduler(client, () => settings);
    await scheduler.put({ id: "s1", expression: "cron(0 3 * * ? *)", timeZone: "Europe/Berlin" });
    await scheduler.remove("s1");
    const input = { v: 1, schedule_id: "s1", scheduled_time: "<aws.scheduler.scheduled-time>" };
    expect(calls.map(parse)).toEqual([
      [
        "UpdateSchedule",
        {
          Name: "s1",
          GroupName: "ours",
          ScheduleExpression: "cron(0 3 * * ? *)",
          ScheduleExpressionTimezone: "Europe/Berlin",
          State: "ENABLED",
          FlexibleTimeWindow: { Mode: "OFF" },
          Target: {
            Arn: "arn:function",
            RoleArn: "arn:role",
            Input: JSON.stringify(input),
            RetryPolicy: { MaximumEventAgeInSeconds: 600, MaximumRetryAttempts: 10 },
          },
        },
      ],
      ["DeleteSchedule", { Name: "s1", GroupName: "ours" }],
    ]);
  });
});

describe("the call of a function", () => {
  afterEach(() => setClientHook(undefined));

  const call = (response: object, isolated?: boolean) => {
    let calls: string[] = [];
    setClientHook((client) => {
      calls = respondToCalls(client, response);
    });
    const caller = openFunctionCaller();
    const options = { timeoutMs: 60_000, ...(isolated !== undefined && { isolated }) };
    return caller("the-function", { a: 1 }, options).then(
      (result) => ({ result, calls }),
      (error: unknown) => ({ error, calls }),
    );
  };

  it("waits for its result, which may be empty", async () => {
    const input = { FunctionName: "the-function", InvocationType: "RequestResponse", Payload: '{"a":1}' };
    const { calls, ...rest } = await call({ Payload: Buffer.from('{"b":2}') });
    expect([rest, calls.map(parse)]).toEqual([{ result: { b: 2 } }, [["Invoke", input]]]);
    expect(await call({})).toMatchObject({ result: undefined });
  });

  it("throws if the function failed", async () => {
    const failed = await call({ Payload: Buffer.from('{"b":2}'), FunctionError: "Unhandled" });
    expect(failed).toMatchObject({ error: new Error("the-function failed: Unhandled") });
  });

  it("has a new tenant each time, if the function isolates them", async () => {
    const tenants: unknown[] = [];
    for (let count = 0; count < 2; count++) {
      const { calls } = await call({}, true);
      const [, input] = parse(calls[0]);
      tenants.push(input.TenantId);
    }
    expect(tenants).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set(tenants).size).toBe(2);
    const { calls } = await call({}, false);
    expect(parse(calls[0])[1]).not.toHaveProperty("TenantId");
  });
});

describe("the call of a Bedrock model", () => {
  it.each([false, true])("is not made if its caller has already aborted (stream: %s)", async (stream) => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const call = { dialect: messages, request: { model: "m", stream }, headers: {}, signal: AbortSignal.abort() };
    try {
      await expect(bedrock(bedrockClient({ ...config, endpoint }))(call)).rejects.toThrow("aborted");
      expect(requests).toBe(0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
