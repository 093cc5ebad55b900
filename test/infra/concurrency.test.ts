import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { afterEach, describe, expect, it, vi } from "vitest";
import { lookUpAccountConcurrency } from "#infra/account-quota.ts";
import { planConcurrency } from "#infra/concurrency.ts";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface FunctionProperties {
  readonly FunctionName: string;
  readonly ReservedConcurrentExecutions?: number;
  readonly Environment?: { Variables: Record<string, unknown> };
}
interface MappingProperties {
  readonly FunctionName: { Ref: string };
  readonly ScalingConfig?: { MaximumConcurrency: number };
}

const functions = (of: Synthesized) => of.all<FunctionProperties>("AWS::Lambda::Function");
const reservedOf = (of: Synthesized, name: string) =>
  functions(of).find(({ Properties }) => Properties.FunctionName === name)?.Properties.ReservedConcurrentExecutions;
const dispatcherOf = (of: Synthesized) =>
  functions(of).find(({ Properties }) => Properties.FunctionName === "runyard-dispatch-run");

describe("the concurrency of a deployment", () => {
  it.each([10, 100, 1_000, 5_000])("limits the executions of an account with %i to three tenths", (account) => {
    const variables = dispatcherOf(synthesize({ accountConcurrency: String(account) }))?.Properties.Environment
      ?.Variables;
    expect(variables?.["MAX_EXECUTIONS"]).toBe(String(Math.max(2, account * 0.3)));
  });

  it("limits no executions and reserves nothing if the quota is unknown", () => {
    const unknown = synthesize();
    expect(dispatcherOf(unknown)?.Properties.Environment?.Variables).not.toHaveProperty("MAX_EXECUTIONS");
    expect(
      functions(unknown).filter(({ Properties }) => Properties.ReservedConcurrentExecutions !== undefined),
    ).toEqual([]);
  });

  it.each([
    { account: 1_000 },
    { account: 600 },
    { account: 5_000, sandboxes: 900 },
    { account: 1_000, sandboxes: 200 },
  ])(
    "leaves 100 executions and those of sandboxes unreserved of $account, and reserves as many for model calls",
    ({ account, sandboxes }) => {
      const deployment = synthesize({
        accountConcurrency: String(account),
        reserveConcurrency: "true",
        ...(sandboxes !== undefined && { sandboxConcurrency: String(sandboxes) }),
      });
      const reserved = functions(deployment).map(({ Properties }) => Properties.ReservedConcurrentExecutions ?? 0);
      const sum = reserved.reduce((total, count) => total + count, 0);
      const cap = sandboxes ?? account * 0.3;
      expect(account - sum).toBeGreaterThanOrEqual(100 + (sandboxes === undefined ? cap : 0));
      expect(reservedOf(deployment, "runyard-call-model")).toBeGreaterThanOrEqual(cap);
      expect(dispatcherOf(deployment)?.Properties.Environment?.Variables["MAX_EXECUTIONS"]).toBe(String(cap));
    },
  );

  it.each([{}, { accountConcurrency: "10" }, { accountConcurrency: "1000", reserveConcurrency: "true" }])(
    "lets no event source mapping invoke more than its function reserves, with %o",
    (context: Record<string, string>) => {
      const deployment = synthesize(context);
      const mappings = deployment.all<MappingProperties>("AWS::Lambda::EventSourceMapping");
      // A stream invokes once for each of its shards.
      for (const { stack, Properties } of mappings.filter((one) => !("StartingPosition" in one.Properties))) {
        const consumer = functions(deployment).find(
          (one) => one.stack === stack && one.id === Properties.FunctionName.Ref,
        );
        const most = Properties.ScalingConfig?.MaximumConcurrency ?? Number.NaN;
        expect(most).toBeGreaterThanOrEqual(2);
        expect(most).toBeLessThanOrEqual(consumer?.Properties.ReservedConcurrentExecutions ?? 1_000);
      }
    },
  );

  it.each([
    [{ accountConcurrency: 100, sandboxConcurrency: 1 }, 'leave out "sandboxConcurrency", or request'],
    [{ accountConcurrency: 101, sandboxConcurrency: 2 }, 'set "sandboxConcurrency" to at most 1, or request'],
    [{ accountConcurrency: 167 }, 'executions: leave out "reserveConcurrency"'],
    [{ accountConcurrency: 168 }, 'executions: set "sandboxConcurrency" to at most 1, leave out "reserveConcurrency"'],
    [{ accountConcurrency: 168, sandboxConcurrency: 2 }, "2 sandboxes with a model call each, at least 66 executions"],
  ])("names a remedy that is possible with %j", (settings, remedy) => {
    expect(() => planConcurrency({ dispatchConcurrency: 50, reserveConcurrency: true, ...settings })).toThrow(remedy);
  });

  it("shares the rest of an account among functions, down to a tenth of what they want", () => {
    const plan = (accountConcurrency: number, sandboxConcurrency?: number) =>
      planConcurrency({
        accountConcurrency,
        dispatchConcurrency: 50,
        reserveConcurrency: true,
        ...(sandboxConcurrency !== undefined && { sandboxConcurrency }),
      });
    const { reserve, ...large } = plan(5_000);
    expect({ ...large, reserved: [reserve(200), reserve(undefined)] }).toEqual({
      maxExecutions: 1_500,
      dispatch: 50,
      streams: 200,
      modelCalls: 1_500,
      reserved: [200, undefined],
    });
    const { reserve: reserveLess, ...small } = plan(168, 1);
    expect({ ...small, reserved: [reserveLess(200), reserveLess(1)] }).toEqual({
      maxExecutions: 1,
      dispatch: 2,
      streams: 20,
      modelCalls: 1,
      reserved: [20, 1],
    });
  });

  it("dispatches two runs at a time in an account with 10 executions", () => {
    const settings = { accountConcurrency: 10, dispatchConcurrency: 50, reserveConcurrency: false };
    expect(planConcurrency(settings)).toMatchObject({ maxExecutions: 3, dispatch: 2 });
  });
});

describe("the lookup of the quota", () => {
  let server: Server | undefined;
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    server?.close();
  });

  async function lookUp(
    status: number,
    body: object,
    environment: Record<string, string>,
  ): Promise<number | undefined> {
    const started = createServer((_, response) => void response.writeHead(status).end(JSON.stringify(body)));
    server = started;
    await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
    const address: AddressInfo | string | null = started.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    return lookUpAccountConcurrency(environment, { endpoint: `http://127.0.0.1:${port}`, credentials, maxAttempts: 1 });
  }
  const account = { CDK_DEFAULT_ACCOUNT: "123456789012", CDK_DEFAULT_REGION: "us-east-1" };

  const QUOTA = { AccountLimit: { ConcurrentExecutions: 1_000 } };

  it("reads the account's concurrent executions, and closes its connections", async () => {
    const closing = vi.spyOn(LambdaClient.prototype, "destroy");
    expect([await lookUp(200, QUOTA, account), closing.mock.calls.length]).toEqual([1_000, 1]);
  });

  it.each([
    ["the CDK has no credentials", 200, {}],
    ["the CDK names no account", 200, { CDK_DEFAULT_REGION: "us-east-1" }],
    ["the CDK names no region", 200, { CDK_DEFAULT_ACCOUNT: "123456789012" }],
    ["the request is refused", 403, account],
  ])("returns nothing if %s", async (_, status, environment) => {
    vi.stubEnv("AWS_REGION", "us-east-1");
    expect(await lookUp(status, QUOTA, environment)).toBeUndefined();
  });

  it("returns nothing if the response takes longer than ten seconds", async () => {
    const given = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
    expect([await lookUp(200, QUOTA, account), given.mock.calls]).toEqual([undefined, [[10_000]]]);
  });
});
