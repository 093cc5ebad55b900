import { ApiGatewayManagementApiClient } from "@aws-sdk/client-apigatewaymanagementapi";
import { ECSClient } from "@aws-sdk/client-ecs";
import { S3Client } from "@aws-sdk/client-s3";
import {
  ConflictException,
  ResourceNotFoundException,
  SchedulerClient,
  ServiceQuotaExceededException,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { ParameterAlreadyExists, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventBridgeScheduler } from "#shared/aws/eventbridge-scheduler.ts";
import { fargateSandbox } from "#shared/aws/fargate-sandbox.ts";
import { s3Client } from "#shared/aws/s3/s3-client.ts";
import { s3FileStore } from "#shared/aws/s3/s3-files.ts";
import { apiGatewaySockets } from "#shared/aws/sockets/api-gateway-sockets.ts";
import { sqsDeadLetterQueue } from "#shared/aws/sqs-queue.ts";
import { ssmFormerSecrets } from "#shared/aws/ssm-former-secrets.ts";
import { ssmKeySetStore } from "#shared/aws/ssm-key-set-store.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { TimerRefused, TimersExhausted } from "#shared/timers/scheduler.ts";
import { respondToCalls } from "../support/aws-responses.ts";

const config = { region: "eu-west-1", credentials: { accessKeyId: "id", secretAccessKey: "secret" } };
const named = (name: string) => Object.assign(new Error("refused"), { name });
const failure = { message: "refused", $metadata: {} };

describe("the keys that sign identity tokens, in Systems Manager", () => {
  const open = (...responses: readonly object[]) => {
    const client = new SSMClient(config);
    return { calls: respondToCalls(client, ...responses), keySet: ssmKeySetStore(client, () => "/ours/ring") };
  };
  const put = (value: string, overwrite: boolean) =>
    `PutParameter ${JSON.stringify({ Name: "/ours/ring", Value: value, Type: "SecureString", Tier: "Standard", Overwrite: overwrite })}`;

  it("are one encrypted parameter, which is created once and then replaced", async () => {
    const { calls, keySet } = open({}, {}, { Parameter: { Value: "two" } });
    expect(await keySet.create("one")).toBe(true);
    await keySet.replace("two");
    expect(await keySet.read()).toBe("two");
    const get = `GetParameter ${JSON.stringify({ Name: "/ours/ring", WithDecryption: true })}`;
    expect(calls).toEqual([put("one", false), put("two", true), get]);
  });

  it("are encrypted with the KMS key of the settings", async () => {
    const client = new SSMClient(config);
    const calls = respondToCalls(client, {});
    const keySet = ssmKeySetStore(
      client,
      () => "/ours/ring",
      () => "arn:key",
    );
    await keySet.create("one");
    expect(calls).toEqual([expect.stringMatching(/^PutParameter .*"Overwrite":false,"KeyId":"arn:key"/)]);
  });

  it("are left as they are if another function has created them, and may be missing", async () => {
    expect(await open(new ParameterAlreadyExists(failure)).keySet.create("one")).toBe(false);
    await expect(open(named("AccessDeniedException")).keySet.create("one")).rejects.toThrow("refused");
    expect(await open(new ParameterNotFound(failure)).keySet.read()).toBeUndefined();
    await expect(open(named("AccessDeniedException")).keySet.read()).rejects.toThrow("refused");
  });
});

describe("a refusal of Systems Manager", () => {
  const open = (name: string) => {
    const client = new SSMClient(config);
    respondToCalls(client, named(name), named(name), named(name));
    return { keySet: ssmKeySetStore(client, () => "/ours"), former: ssmFormerSecrets(client, () => "/ours") };
  };

  it.each([
    ["ThrottlingException", true, /limits the calls.*raise the throughput/],
    ["TooManyUpdates", true, /send the request again/],
    ["ParameterLimitExceeded", false, /delete unused parameters/],
    ["InvalidKeyId", false, /enable it/],
  ])("%s is a 503 that names the remedy (retryable: %s)", async (name, retryable, message) => {
    const retryAfterSeconds = retryable ? 5 : 60;
    const refusal = { status: 503, retryable, retryAfterSeconds, message: expect.stringMatching(message) };
    await expect(open(name).keySet.read()).rejects.toMatchObject(refusal);
    await expect(open(name).keySet.create("one")).rejects.toMatchObject(refusal);
    await expect(open(name).keySet.replace("one")).rejects.toMatchObject(refusal);
    await expect(open(name).former.getAll("team", ["id"])).rejects.toMatchObject(refusal);
    await expect(open(name).former.remove("team", "id")).rejects.toMatchObject(refusal);
  });
});

describe("secrets that an earlier release stored in Systems Manager", () => {
  const open = (...responses: readonly object[]) => {
    const client = new SSMClient(config);
    return { calls: respondToCalls(client, ...responses), vault: ssmFormerSecrets(client, () => "/ours") };
  };

  it.each([
    ["plain {text}", "plain {text}"],
    ["a {{b}}", `base64:${Buffer.from("a {{b}}").toString("base64")}`],
    ["base64:x", `base64:${Buffer.from("base64:x").toString("base64")}`],
  ])("are read as %j where they were stored as %j", async (value, stored) => {
    const { vault } = open({ Parameters: [{ Name: "/ours/team/id", Value: stored }] });
    expect(await vault.getAll("team", ["id"])).toEqual(new Map([["id", value]]));
  });

  it("are read ten at a time, without missing ones", async () => {
    const ids = Array.from({ length: 11 }, (_, index) => `${index}`);
    const { calls, vault } = open(
      {
        Parameters: [
          { Name: "/ours/team/1", Value: "one" },
          { Name: "/ours/other/2", Value: "two" },
          { Name: "/ours/team/3" },
        ],
      },
      {},
    );
    expect(await vault.getAll("team", ids)).toEqual(new Map([["1", "one"]]));
    const request = (some: readonly string[]) =>
      `GetParameters ${JSON.stringify({ Names: some.map((id) => `/ours/team/${id}`), WithDecryption: true })}`;
    expect(calls).toEqual([request(ids.slice(0, 10)), request(ids.slice(10))]);
  });

  it("are deleted, also if there is none", async () => {
    const { calls, vault } = open(new ParameterNotFound(failure), named("AccessDenied"));
    await vault.remove("team", "id");
    expect(calls).toEqual(['DeleteParameter {"Name":"/ours/team/id"}']);
    await expect(vault.remove("team", "id")).rejects.toThrow("refused");
  });
});

describe("a parameter of Systems Manager", () => {
  it("is read again after five minutes", async () => {
    let now = 1_000;
    const client = new SSMClient(config);
    const calls = respondToCalls(client, { Parameter: { Value: " one\n" } }, { Parameter: { Value: "two" } });
    const read = ssmParameter(client, "/ours/token", () => now);
    expect(await read()).toBe("one");
    now += 299_999;
    expect(await read()).toBe("one");
    now += 1;
    expect(await read()).toBe("two");
    expect(calls).toEqual(Array(2).fill('GetParameter {"Name":"/ours/token","WithDecryption":true}'));
  });

  it("is undefined if there is none or it is empty, and other errors are thrown", async () => {
    for (const response of [new ParameterNotFound(failure), { Parameter: { Value: " " } }, {}]) {
      const client = new SSMClient(config);
      const calls = respondToCalls(client, response);
      const read = ssmParameter(client, "/ours/token", () => 0);
      expect([await read(), await read()]).toEqual([undefined, undefined]);
      expect(calls).toHaveLength(1);
    }
    const client = new SSMClient(config);
    respondToCalls(client, named("AccessDenied"), { Parameter: { Value: "later" } });
    const read = ssmParameter(client, "/ours/token", () => 0);
    await expect(read()).rejects.toThrow("refused");
    expect(await read()).toBe("later");
  });
});

describe("a dead-letter queue", () => {
  const message = (id: string) => ({ MessageId: id, ReceiptHandle: `handle ${id}`, Body: "{}", MD5OfBody: "md5" });
  const receive = 'ReceiveMessage {"QueueUrl":"url","MaxNumberOfMessages":10,"MessageSystemAttributeNames":["All"]}';

  it("passes its messages on, and deletes those that did not fail", async () => {
    const client = new SQSClient(config);
    const attributes = {
      ApproximateReceiveCount: "3",
      SentTimestamp: "1",
      SenderId: "sender",
      ApproximateFirstReceiveTimestamp: "2",
    };
    const calls = respondToCalls(
      client,
      { Messages: [{ ...message("a"), Attributes: attributes }, message("b")] },
      {},
      {},
    );
    const seen: unknown[] = [];
    await sqsDeadLetterQueue(client, () => "url").drain(async (event) => {
      seen.push(...event.Records);
      return { batchItemFailures: [{ itemIdentifier: "b" }] };
    });
    const constant = { messageAttributes: {}, eventSource: "aws:sqs", eventSourceARN: "", awsRegion: "" };
    const record = { ...constant, body: "{}", md5OfBody: "md5" };
    expect(seen).toEqual([
      { ...record, messageId: "a", receiptHandle: "handle a", attributes },
      {
        ...record,
        messageId: "b",
        receiptHandle: "handle b",
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: "0",
          SenderId: "",
          ApproximateFirstReceiveTimestamp: "0",
        },
      },
    ]);
    expect(calls).toEqual([receive, 'DeleteMessage {"QueueUrl":"url","ReceiptHandle":"handle a"}', receive]);
  });

  it("is drained by ten requests at most", async () => {
    const client = new SQSClient(config);
    const calls = respondToCalls(client, { Messages: [message("a")] });
    await sqsDeadLetterQueue(client, () => "url").drain(async () => ({ batchItemFailures: [{ itemIdentifier: "a" }] }));
    expect(calls).toEqual(Array(10).fill(receive));
  });
});

describe("the sockets of API Gateway", () => {
  it("report whether a connection is open, with one client", async () => {
    let created = 0;
    const client = new ApiGatewayManagementApiClient({ ...config, endpoint: "https://sockets.test" });
    const calls = respondToCalls(
      client,
      {},
      named("GoneException"),
      named("GoneException"),
      named("LimitExceededException"),
    );
    const sockets = apiGatewaySockets(() => {
      created++;
      return client;
    });
    expect(created).toBe(0);
    expect(await sockets.post("c", "{}")).toBe(true);
    expect(await sockets.post("c", "{}")).toBe(false);
    await sockets.close("c");
    await expect(sockets.post("c", "{}")).rejects.toThrow("refused");
    expect(created).toBe(1);
    const post = `PostToConnection ${JSON.stringify({ ConnectionId: "c", Data: Buffer.from("{}") })}`;
    expect(calls).toEqual([post, post, 'DeleteConnection {"ConnectionId":"c"}', post]);
  });
});

describe("the timers of EventBridge Scheduler", () => {
  const timer = { id: "id", expression: "cron(0 0 * * ? *)", timeZone: "UTC" };
  const put = async (...responses: readonly object[]) => {
    const client = new SchedulerClient(config);
    const calls = respondToCalls(client, ...responses);
    const settings = { group: "ours", functionArn: "arn:function", roleArn: "arn:role" };
    const scheduler = eventBridgeScheduler(client, () => settings);
    const error: unknown = await scheduler.put(timer).catch((reason: unknown) => reason);
    return { error, commands: calls.map((call) => call.split(" ")[0]), scheduler };
  };
  const missing = new ResourceNotFoundException({ ...failure, Message: "refused" });
  const conflict = new ConflictException({ ...failure, Message: "refused" });
  const invalid = (message: string) => new ValidationException({ message, $metadata: {}, Message: message });

  it("are updated, or created if missing, also by two concurrent callers", async () => {
    expect(await put({})).toMatchObject({ error: undefined, commands: ["UpdateSchedule"] });
    expect(await put(missing, {})).toMatchObject({ error: undefined, commands: ["UpdateSchedule", "CreateSchedule"] });
    const both = ["UpdateSchedule", "CreateSchedule", "UpdateSchedule"];
    expect(await put(missing, conflict, {})).toMatchObject({ error: undefined, commands: both });
    expect(await put(missing, conflict, missing)).toMatchObject({ error: conflict, commands: both });
  });

  it("are refused if their time is not possible, and other errors are thrown", async () => {
    for (const text of ["Invalid Schedule Expression", "bad timezone", "bad Time Zone"]) {
      expect((await put(invalid(text))).error).toEqual(new TimerRefused(text));
    }
    const full = new ServiceQuotaExceededException({ ...failure, Message: "refused" } as const);
    expect((await put(missing, full)).error).toEqual(new TimersExhausted("refused"));
    const role = invalid("the role cannot be assumed");
    expect((await put(role)).error).toBe(role);
    const other = named("expression");
    expect((await put(other)).error).toBe(other);
  });

  it("are deleted, also if there is none", async () => {
    const { scheduler } = await put({}, missing, conflict);
    await expect(scheduler.remove("id")).resolves.toBeUndefined();
    await expect(scheduler.remove("id")).rejects.toBe(conflict);
  });
});

describe("the files in S3", () => {
  const open = (...responses: readonly object[]) => {
    const client = new S3Client({ ...config, requestChecksumCalculation: "WHEN_REQUIRED" });
    const calls = respondToCalls(client, ...responses);
    return {
      calls,
      files: s3FileStore(
        client,
        () => "bucket",
        60,
        () => Date.parse("2026-05-18T19:00:00Z"),
      ),
    };
  };
  const signed = () =>
    s3FileStore(
      new S3Client({ ...config, requestChecksumCalculation: "WHEN_REQUIRED" }),
      () => "bucket",
      60,
      () => Date.parse("2026-05-18T19:00:00Z"),
    );

  it("are written once, and copied by their encoded names", async () => {
    const { calls, files } = open(named("PreconditionFailed"), {}, named("AccessDenied"));
    await files.put("a/b", "text", "text/plain");
    await files.copy("a/b c+d", "e");
    expect(calls).toEqual([
      'PutObject {"Bucket":"bucket","Key":"a/b","Body":"text","ContentType":"text/plain","IfNoneMatch":"*"}',
      'CopyObject {"Bucket":"bucket","Key":"e","CopySource":"bucket/a/b%20c%2Bd"}',
    ]);
    await expect(files.put("a/b", "text", "text/plain")).rejects.toThrow("refused");
  });

  it("are downloaded under a name and type, within the time of the settings", async () => {
    const { url, expiresAt } = await signed().downloadUrl("a/b", { filename: "é.txt", contentType: "text/plain" });
    const { origin, pathname, searchParams } = new URL(url);
    expect([origin, pathname]).toEqual(["https://bucket.s3.eu-west-1.amazonaws.com", "/a/b"]);
    expect(searchParams.get("response-content-type")).toBe("text/plain");
    expect(searchParams.get("response-content-disposition")).toContain("%C3%A9.txt");
    expect(searchParams.get("X-Amz-Expires")).toBe("60");
    expect(expiresAt).toBe(Date.parse("2026-05-18T19:01:00Z"));
  });

  it("are uploaded once, with the announced size and digest, within ten minutes", async () => {
    const file = { sizeBytes: 5, sha256: "00ff", contentType: "text/plain" };
    const { url, method, headers } = await signed().uploadTarget("a/b", file);
    expect({ method, headers }).toEqual({
      method: "PUT",
      headers: {
        "content-length": "5",
        "content-type": "text/plain",
        "if-none-match": "*",
        "x-amz-checksum-sha256": "AP8=",
      },
    });
    const { searchParams } = new URL(url);
    expect(searchParams.get("X-Amz-SignedHeaders")).toBe(
      "content-length;content-type;host;if-none-match;x-amz-checksum-sha256",
    );
    expect(searchParams.get("X-Amz-Expires")).toBe("600");
  });

  it("are uploaded by a plain PUT with their type, and their size where it is known", async () => {
    for (const [sizeBytes, signed_headers] of [
      [5, "content-length;content-type;host"],
      [undefined, "content-type;host"],
    ] as const) {
      const { url, expiresAt } = await signed().uploadUrl("a/b", { sizeBytes, contentType: "text/plain" });
      const { pathname, searchParams } = new URL(url);
      expect([pathname, searchParams.get("X-Amz-SignedHeaders")]).toEqual(["/a/b", signed_headers]);
      expect([...searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([]);
      expect(expiresAt).toBe(Date.parse("2026-05-18T19:10:00Z"));
    }
  });

  it("are uploaded by a form that limits the size", async () => {
    const form = await signed().uploadForm("a/b", { mostBytes: 9, contentType: "image/png" });
    const { fields = [], ...rest } = form;
    expect(rest).toEqual({ url: "https://bucket.s3.eu-west-1.amazonaws.com/", method: "POST", headers: null });
    expect(fields.at(-1)).toEqual({ name: "file", value: { kind: "content_data" } });
    const values = new Map(fields.map(({ name, value }) => [name, "value" in value ? value.value : ""]));
    expect([...values.keys()]).toEqual([
      ...[
        "key",
        "Content-Type",
        "x-amz-algorithm",
        "x-amz-credential",
        "x-amz-date",
        "policy",
        "x-amz-signature",
        "file",
      ],
    ]);
    const credential = "id/20260518/eu-west-1/s3/aws4_request";
    expect(JSON.parse(Buffer.from(values.get("policy") ?? "", "base64").toString())).toEqual({
      expiration: "2026-05-18T19:10:00.000Z",
      conditions: [
        { bucket: "bucket" },
        { key: "a/b" },
        { "Content-Type": "image/png" },
        { "x-amz-algorithm": "AWS4-HMAC-SHA256" },
        { "x-amz-credential": credential },
        { "x-amz-date": "20260518T190000Z" },
        ["content-length-range", 1, 9],
      ],
    });
    // The signature of this policy by the documentation of AWS, with the key "secret".
    expect(values.get("x-amz-signature")).toBe("772bf5b5b29b288a639a789c8505cd99297674c4a8eaf5467309f7e89b2e54a1");
  });
});

describe("a Fargate task with an incomplete ECS response", () => {
  const settings = {
    cluster: "c",
    subnets: [],
    securityGroup: "sg",
    executionRole: "role",
    harnessImage: "image",
    logGroup: "logs",
    region: "eu-west-1",
  };
  const envelope = { version: 1, base_url: "b", model_url: "m", run_id: "r", execution_id: "e", key: "k" } as const;
  const open = (...responses: readonly object[]) => {
    const client = new ECSClient(config);
    const calls = respondToCalls(client, ...responses);
    const sandbox = fargateSandbox(
      client,
      () => settings,
      () => 0,
    );
    return { calls, sandbox };
  };
  const startWith = (...responses: readonly object[]) =>
    open(...responses)
      .sandbox.start(envelope, { provider: "fargate", dockerImage: "node:24" })
      .catch((error: unknown) => error);

  it.each([
    [{}, "no task was started"],
    [{ tasks: [], failures: [] }, "no task was started"],
    [{ tasks: [{}] }, "no task was started"],
    [{ failures: [{ reason: "AGENT" }, { reason: "MEMORY" }] }, "AGENT, MEMORY"],
  ])("is postponed by %j", async (response, message) => {
    const error = await startWith(response);
    expect(error).toBeInstanceOf(StartDeferred);
    expect(error).toMatchObject({ message });
  });

  it("is postponed with the service's error as the cause, and is the task that a conflict names", async () => {
    const throttled = named("ThrottlingException");
    expect(await startWith(throttled)).toMatchObject({ message: "refused", cause: throttled });
    const conflict = named("ConflictException");
    expect(await startWith(Object.assign(conflict, { resourceIds: ["arn:aws:ecs:task/c/t1", "x/t2"] }))).toBe("t1");
    for (const resourceIds of [[], [1], "x/t1", undefined]) {
      expect(await startWith(Object.assign(conflict, { resourceIds }))).toBe(conflict);
    }
    const other = Object.assign(named("OtherException"), { resourceIds: ["x/t1"] });
    expect(await startWith(other)).toBe(other);
    await expect(open({}).sandbox.start(envelope, { provider: "lambda" })).rejects.toThrow("lambda is no container");
  });

  it("is stopped if it exists and is not stopped yet", async () => {
    const placed = { provider: "fargate", executionId: "e" } as const;
    const list = `ListTasks ${JSON.stringify({ cluster: "c", startedBy: "e" })}`;
    const describeTask = `DescribeTasks ${JSON.stringify({ cluster: "c", tasks: ["t"] })}`;
    const unknown = open({});
    expect(await unknown.sandbox.stop(placed)).toBe(false);
    expect(unknown.calls).toEqual([list]);
    const forgotten = open({ taskArns: ["t"] }, {});
    expect(await forgotten.sandbox.stop(placed)).toBe(true);
    expect(forgotten.calls).toEqual([list, describeTask]);
    const tasks = [
      { lastStatus: "RUNNING" },
      { taskArn: "a", lastStatus: "RUNNING", desiredStatus: "STOPPED" },
      { taskArn: "b", lastStatus: "STOPPED", desiredStatus: "STOPPED" },
      { taskArn: "c", lastStatus: "RUNNING", desiredStatus: "RUNNING" },
    ];
    const alive = open({ tasks });
    expect(await alive.sandbox.stop({ ...placed, handle: "t" })).toBe(false);
    const reason = "the execution is over";
    expect(alive.calls).toEqual([describeTask, `StopTask ${JSON.stringify({ cluster: "c", task: "c", reason })}`]);
    expect(await open({ tasks: [tasks[2]] }).sandbox.stop({ ...placed, handle: "t" })).toBe(true);
  });
});

describe("the client of S3", () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    [undefined, false],
    ["http://127.0.0.1:4566", true],
  ])("with the endpoint %s uses paths: %s", async (endpoint, forcePathStyle) => {
    vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
    const { config: of } = s3Client();
    expect(of.forcePathStyle).toBe(forcePathStyle);
    expect(await of.requestChecksumCalculation()).toBe("WHEN_REQUIRED");
    expect(await of.maxAttempts()).toBe(4);
  });
});
