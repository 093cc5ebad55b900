import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import http from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { CreateQueueCommand, GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { PutParameterCommand } from "@aws-sdk/client-ssm";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ssmClient } from "#shared/aws/clients.ts";
import { s3UploadForm } from "#shared/aws/s3/s3-upload-form.ts";
import { sqsClient } from "#shared/aws/sqs-client.ts";
import { KEY_HEADER } from "../../emulator/emulator-access.ts";
import { callEmulator } from "../../emulator/emulator-calls.ts";
import { createBucket, createTable, EMULATOR_START_MS, type EmulatedAws, emulatedAws } from "../support/emulator.ts";

const bucket = "runyard-attacked";
const secret = "the value of a secret parameter";
const scope = "20261122/us-east-1";

let aws: EmulatedAws;
let signedUrl: string;

beforeAll(async () => {
  aws = await emulatedAws();
  await createTable("runyard");
  await createBucket(aws.s3, bucket);
  await aws.s3.send(new PutObjectCommand({ Bucket: bucket, Key: "transcripts/a", Body: "a transcript" }));
  await ssmClient().send(new PutParameterCommand({ Name: "/runyard/secret", Type: "SecureString", Value: secret }));
  signedUrl = await getSignedUrl(aws.s3, new GetObjectCommand({ Bucket: bucket, Key: "transcripts/a" }));
}, EMULATOR_START_MS);
afterAll(() => aws?.stop());

interface Attempt {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

/** Sends exactly these headers; fetch would refuse some and add others. */
function send({ method = "GET", path = "/", headers = {}, body = "" }: Attempt) {
  const { port } = new URL(aws.access.endpoint);
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      text(response).then(
        (received) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
        reject,
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

const fetchStatus = async (attempt: Attempt): Promise<number> => (await send(attempt)).status;

/** A request like an SDK's, with a signature that the emulator itself would accept. */
const forged = (service: string, accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}/${service}/aws4_request, SignedHeaders=host;x-amz-date, Signature=${"0".repeat(64)}`,
  "x-amz-date": "20261122T000000Z",
  "x-amz-content-sha256": createHash("sha256").update("").digest("hex"),
});

const jsonCall = (service: string, target: string, accessKeyId = "test"): Attempt => ({
  method: "POST",
  headers: {
    ...forged(service, accessKeyId),
    "x-amz-target": target,
    "content-type": "application/x-amz-json-1.1",
  },
  body: JSON.stringify({ Name: "/runyard/secret", WithDecryption: true, TableName: "runyard" }),
});

const PATHS: readonly [string, Attempt][] = [
  ["the health page", { path: "/_ministack/health" }],
  ["the health page of LocalStack", { path: "/_localstack/health" }],
  ["the readiness page", { path: "/_ministack/ready" }],
  ["a reset of the state", { method: "POST", path: "/_ministack/reset" }],
  ["a change of its settings", { method: "POST", path: "/_ministack/config", body: "{}" }],
  ["messages of queues", { path: "/_ministack/sqs/messages" }],
  ["the list of buckets", {}],
  ["the list of objects", { path: `/${bucket}` }],
  ["an object", { path: `/${bucket}/transcripts/a` }],
  ["the upload of an object", { method: "PUT", path: `/${bucket}/planted`, body: "x" }],
  ["the deletion of an object", { method: "DELETE", path: `/${bucket}/transcripts/a` }],
  [
    "a form upload",
    { method: "POST", path: `/${bucket}`, headers: { "content-type": "multipart/form-data; boundary=b" } },
  ],
  ["an HTTP API", { path: "/_aws/execute-api/abc/$default/api/v1/agent/runs" }],
  ["a function URL", { path: "/_aws/lambda-url/abc/" }],
  ["an invocation", { method: "POST", path: "/2015-03-31/functions/runyard-reap-runs/invocations", body: "{}" }],
  ["the list of functions", { path: "/2015-03-31/functions/" }],
  ["the code of a function", { path: "/_ministack/lambda-code/runyard-reap-runs" }],
  ["the response of a custom resource", { method: "PUT", path: "/_ministack/cfn-response/abc", body: "{}" }],
  [
    "temporary credentials",
    {
      method: "POST",
      body: "Action=AssumeRole&Version=2011-06-15&RoleArn=a&RoleSessionName=b",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    },
  ],
  [
    "a CORS preflight",
    { method: "OPTIONS", headers: { origin: "https://evil.test", "access-control-request-method": "POST" } },
  ],
];

const FORGED: readonly [string, () => Attempt][] = [
  ["a secret parameter", () => jsonCall("ssm", "AmazonSSM.GetParameter")],
  ["a secret parameter, as the account", () => jsonCall("ssm", "AmazonSSM.GetParameter", "000000000000")],
  ["a secret parameter, without a key id", () => jsonCall("ssm", "AmazonSSM.GetParameter", "")],
  ["the table", () => jsonCall("dynamodb", "DynamoDB_20120810.Scan")],
  ["queues", () => jsonCall("sqs", "AmazonSQS.ListQueues")],
  ["logs", () => jsonCall("logs", "Logs_20140328.DescribeLogGroups")],
  ["an object", () => ({ path: `/${bucket}/transcripts/a`, headers: forged("s3", "000000000000") })],
  [
    "an object, by a key in the header",
    () => ({ path: `/${bucket}/transcripts/a`, headers: { [KEY_HEADER]: "test" } }),
  ],
  [
    "an object, by an empty key in the header",
    () => ({ path: `/${bucket}/transcripts/a`, headers: { [KEY_HEADER]: "" } }),
  ],
];

describe("the emulator with an unknown access key", () => {
  test.each(PATHS)("returns 403 without credentials for %s", async (_, attempt) => {
    const { status, headers } = await send(attempt);
    expect(status).toBe(403);
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test.each(FORGED)("returns 403 for a forged signature on %s", async (_, attempt) => {
    const { status, body } = await send(attempt());
    expect(status).toBe(403);
    expect(body).not.toContain(secret);
  });

  test("returns 403 to another user of the machine, who cannot read the key", async () => {
    const { port } = new URL(aws.access.endpoint);
    const script = `
      const fs = require("node:fs");
      const seen = [];
      for (const pid of fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)))
        for (const file of ["cmdline", "environ"])
          try { seen.push(fs.readFileSync("/proc/" + pid + "/" + file, "latin1")); } catch {}
      fetch("http://127.0.0.1:${port}/_ministack/health").then((answer) => console.log(answer.status, seen.join("")));`;
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    // The user who runs the tests may read their own environment; another user may not.
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", script], {
      ...asNobody,
      env: {},
      cwd: "/",
      maxBuffer: 2 ** 28,
    });
    expect(stdout.slice(0, 4)).toBe("403 ");
    if (process.getuid?.() === 0) expect(stdout).not.toContain(aws.access.secretKey);
  });

  test("rejects a WebSocket", async () => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      [KEY_HEADER]: aws.access.secretKey,
    };
    expect(await fetchStatus({ path: "/_aws/execute-api/abc/stage", headers })).toBe(403);
  });
});

describe("the emulator with a web page as caller", () => {
  const origins = ["https://evil.test", "http://localhost:4500", "null"];

  test.each(origins)("returns 403 for the origin %s, even with a signed URL", async (origin) => {
    const { pathname, search } = new URL(signedUrl);
    expect(await fetchStatus({ path: pathname + search })).toBe(200);
    const { status, headers } = await send({ path: pathname + search, headers: { origin } });
    expect([status, headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  });

  test.each(["evil.test", "evil.test:4566", "127.0.0.1", "127.0.0.1:1", "abc.execute-api.localhost:4566"])(
    "returns 403 for the Host %s, even with the key",
    async (host) => {
      const headers = { host, [KEY_HEADER]: aws.access.secretKey };
      expect(await fetchStatus({ path: "/_ministack/health", headers })).toBe(403);
      expect(await fetchStatus({ path: "/_ministack/health", headers: { [KEY_HEADER]: aws.access.secretKey } })).toBe(
        200,
      );
    },
  );

  test("sends no CORS headers with a successful response", async () => {
    const { headers } = await send({
      headers: { ...forged("s3", "000000000000"), [KEY_HEADER]: aws.access.secretKey },
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("a signed URL of the emulator", () => {
  const target = () => {
    const { pathname, search } = new URL(signedUrl);
    return { pathname, search };
  };

  test("returns 403 for another object, method, parameter or signature", async () => {
    const { pathname, search } = target();
    expect(await fetchStatus({ path: `/${bucket}/transcripts/b${search}` })).toBe(403);
    expect(await fetchStatus({ path: pathname + search, method: "DELETE" })).toBe(403);
    expect(await fetchStatus({ path: `${pathname}${search}&versionId=1` })).toBe(403);
    expect(await fetchStatus({ path: pathname + search.replace(/Signature=[0-9a-f]{4}/, "Signature=0000") })).toBe(403);
    expect(await fetchStatus({ path: pathname + search.replace(/&X-Amz-Signature=[^&]*/, "") })).toBe(403);
  });

  test("works for no other service", async () => {
    const { pathname, search } = target();
    const response = await send({ ...jsonCall("ssm", "AmazonSSM.GetParameter"), path: pathname + search });
    expect(response.status).toBe(403);
    const headers = { "x-amz-target": "AmazonSSM.GetParameter", "content-type": "application/x-amz-json-1.1" };
    const routed = await send({ path: pathname + search, headers });
    expect(routed.body).toBe("a transcript");
  });

  test("is not accepted as a credential of its access key id", async () => {
    const credential = new URL(signedUrl).searchParams.get("X-Amz-Credential") ?? "";
    const [accessKeyId = ""] = credential.split("/");
    expect(await fetchStatus(jsonCall("ssm", "AmazonSSM.GetParameter", accessKeyId))).toBe(403);
    expect(signedUrl).not.toContain(aws.access.secretKey);
  });
});

describe("an upload form", () => {
  async function form(changed: (fields: [string, string][]) => [string, string][] = (fields) => fields) {
    const target = await s3UploadForm(aws.s3, {
      bucket,
      key: "attachments/a",
      mostBytes: 100,
      contentType: "text/plain",
      seconds: 60,
      now: Date.now(),
    });
    const fields = (target.fields ?? []).flatMap(({ name, value }): [string, string][] =>
      value.kind === "static" ? [[name, value.value]] : [],
    );
    const body = new FormData();
    for (const [name, value] of changed(fields)) body.append(name, value);
    body.append("file", new Blob(["policy and more"]), "policy.txt");
    return (await fetch(target.url, { method: "POST", body })).status;
  }

  test("uploads with the signed fields", async () => {
    expect(await form()).toBe(204);
  });

  test("returns 403 for another policy, for two of them, and for another key's signature", async () => {
    const other = Buffer.from('{"expiration":"2099-01-01T00:00:00Z","conditions":[]}').toString("base64");
    const set = (name: string, value: string) => (fields: [string, string][]) =>
      fields.map(([key, old]): [string, string] => [key, key === name ? value : old]);
    expect(await form(set("policy", other))).toBe(403);
    expect(await form(set("x-amz-signature", "0".repeat(64)))).toBe(403);
    expect(await form((fields) => [...fields, ["policy", other]])).toBe(403);
    expect(await form((fields) => [["POLICY", other], ...fields])).toBe(403);
    expect(await form((fields) => fields.filter(([name]) => !name.startsWith("x-amz-")))).toBe(403);
  });
});

describe("the emulator with its access key", () => {
  test("accepts signed calls of the SDK with parameters and unusual characters in paths", async () => {
    const sqs = sqsClient();
    await sqs.send(new CreateQueueCommand({ QueueName: "runyard-ends" }));
    expect((await sqs.send(new GetQueueUrlCommand({ QueueName: "runyard-ends" }))).QueueUrl).toContain("runyard-ends");
    const Key = "a b/ü+%2F'(1)!*.txt";
    await aws.s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "odd" }));
    const odd = await getSignedUrl(aws.s3, new GetObjectCommand({ Bucket: bucket, Key }));
    expect(await (await fetch(odd)).text()).toBe("odd");
  });

  test("accepts calls that name the key in a header", async () => {
    const { ok } = await callEmulator(aws.access, "ssm", "AmazonSSM.GetParameter", { Name: "/runyard/secret" });
    expect(ok).toBe(true);
  });
});
