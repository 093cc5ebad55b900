import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { afterEach, describe, expect, it } from "vitest";
import { lambdaSandbox } from "#shared/aws/lambda-sandbox.ts";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { serveInvocations } from "../../image/lambda-runtime.ts";

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Serves HTTP on the loopback interface. Returns its host and port. */
async function serve(respond: (method: string, url: string, headers: NodeJS.Dict<unknown>) => Reply): Promise<string> {
  const started = createServer((request, response) => {
    request.resume().on("end", () => {
      const { status, headers, body } = respond(request.method ?? "", request.url ?? "", request.headers);
      response.writeHead(status, headers).end(body);
    });
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = started.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `127.0.0.1:${address.port}`;
}

const envelope = {
  version: 1 as const,
  base_url: "https://api.example/api/v1",
  model_url: "https://api.example/api/v1/model",
  run_id: "run-1",
  execution_id: "execution-1",
  key: "key",
};

async function start(respond: Parameters<typeof serve>[0], hasTenants?: () => boolean) {
  const client = new LambdaClient({
    endpoint: `http://${await serve(respond)}`,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  await lambdaSandbox(client, () => "runyard-run-sandbox-image", hasTenants).start(envelope, { provider: "lambda" });
}

describe("the Lambda sandbox", () => {
  it.each([
    ["TooManyRequestsException", 429],
    ["ResourceConflictException", 409],
    ["ResourceNotReadyException", 502],
    ["CodeArtifactUserPendingException", 409],
    ["EC2ThrottledException", 502],
    ["ServiceException", 500],
  ])("postpones a start that Lambda refuses with %s", async (name, status) => {
    const refuse = () => ({ status, headers: { "x-amzn-errortype": name }, body: '{"Message":"later"}' });
    await expect(start(refuse)).rejects.toBeInstanceOf(StartDeferred);
  });

  it("names the execution as the tenant only if the function has tenants", async () => {
    const tenants: unknown[] = [];
    const accept = (_method: string, _url: string, headers: NodeJS.Dict<unknown>) => {
      tenants.push(headers["x-amz-tenant-id"]);
      return { status: 202 };
    };
    await start(accept);
    await start(accept, () => false);
    expect(tenants).toEqual(["execution-1", undefined]);
  });
});

describe("the runtime of the image", () => {
  it("returns after one invocation if executions share an environment, after it has sent its result", async () => {
    const calls: string[] = [];
    const host = await serve((method, url) => {
      calls.push(`${method} ${url.split("/invocation/")[1]}`);
      const headers = { "lambda-runtime-aws-request-id": "1", "lambda-runtime-deadline-ms": "1" };
      return { status: method === "GET" ? 200 : 202, headers, body: "{}" };
    });
    await serveInvocations(host, async () => "done", { once: true });
    expect(calls).toEqual(["GET next", "POST 1/response"]);
  });

  it.each([
    [
      "ends after one invocation and removes temporary files before it, given the argument sharedHandler",
      ["sharedHandler"],
      1,
      [],
    ],
    ["serves one invocation after the other and removes no files, without an argument", [], 2, ["left"]],
  ])("%s", async (_, given, invocations, left) => {
    const folder = mkdtempSync(join(tmpdir(), "runtime-"));
    writeFileSync(join(folder, "left"), "");
    const calls: string[] = [];
    const host = await serve((method, url) => {
      const call = `${method} ${url.split("/invocation/")[1]}`;
      calls.push(call);
      const headers = { "lambda-runtime-aws-request-id": "1", "lambda-runtime-deadline-ms": "1" };
      // The third request for an invocation ends a runtime that goes on.
      const isOver = calls.filter((earlier) => earlier === call).length > 2;
      return { status: isOver ? 500 : method === "GET" ? 200 : 202, headers, body: "{}" };
    });
    const program = spawn(process.execPath, [join(import.meta.dirname, "../../image/entry.ts"), ...given], {
      env: { PATH: process.env["PATH"], TMPDIR: folder, AWS_LAMBDA_RUNTIME_API: host },
      stdio: "ignore",
    });
    await once(program, "exit");
    const served = Array.from({ length: invocations }, () => ["GET next", "POST 1/error"]).flat();
    expect(calls).toEqual(invocations === 1 ? served : [...served, "GET next"]);
    expect(readdirSync(folder)).toEqual(left);
    rmSync(folder, { recursive: true });
  });
});
