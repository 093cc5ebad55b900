import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaMicrovmsClient } from "@aws-sdk/client-lambda-microvms";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FARGATE_SECONDS, fargateSandbox } from "#shared/aws/fargate-sandbox.ts";
import { MICROVM_SECONDS, microvmSandbox } from "#shared/aws/microvm-sandbox.ts";
import { randomId } from "#shared/ids.ts";
import { newRunKey } from "#shared/principals/api-key.ts";
import { type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";
import { sandboxes } from "#shared/sandbox/sandboxes.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { findOperation, isRecord } from "../../support/aws-model.ts";
import { Refusal } from "../../support/aws-server.ts";
import { startEcs } from "../../support/ecs-stand-in.ts";
import { startMicrovms } from "../../support/microvms-stand-in.ts";

const NOW = Date.parse("2026-05-18T19:00:00Z");
const IMAGE = "arn:aws:lambda:us-east-1:123456789012:microvm-image:runyard-sandbox";
const clientSettings = (endpoint: string) => ({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
  maxAttempts: 2,
});

/** Creates the longest possible envelope: addresses with a custom domain, and generated ids. */
function createEnvelope(): Envelope {
  const runId = randomId();
  return {
    version: 1,
    base_url: `https://${"a".repeat(180)}.example/api/v1`,
    model_url: `https://${"b".repeat(180)}.example`,
    run_id: runId,
    execution_id: randomId(),
    key: newRunKey(runId),
  };
}

const throttled = (name = "ThrottlingException") => new Refusal(name, "Rate exceeded", 429);

/** The SDK retries by itself, so the service must refuse twice. */
const throughout = (service: { refuse(operation: string, refusal: Refusal): void }, name: string, refusal: Refusal) => {
  service.refuse(name, refusal);
  service.refuse(name, refusal);
};

describe("a MicroVM", () => {
  let service: Awaited<ReturnType<typeof startMicrovms>>;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await startMicrovms();
    const settings = { imageArn: () => IMAGE, region: () => "us-east-1", now: () => NOW };
    sandbox = microvmSandbox(new LambdaMicrovmsClient(clientSettings(service.endpoint)), settings);
  });
  afterEach(() => service.close());
  const start = (envelope: Envelope) => sandbox.start(envelope, { provider: "microvm" });

  it("gets its envelope and no role, idle policy, inbound access or log", async () => {
    const envelope = createEnvelope();
    expect(await start(envelope)).toBe("mvm-1");
    const [input] = service.inputs("RunMicrovm");
    expect(input).toEqual({
      imageIdentifier: IMAGE,
      clientToken: envelope.execution_id,
      maximumDurationInSeconds: MICROVM_SECONDS,
      runHookPayload: JSON.stringify({ ...envelope, deadline_at: NOW + 28_740_000 }),
      ingressNetworkConnectors: ["arn:aws:lambda:us-east-1:aws:network-connector:aws-network-connector:NO_INGRESS"],
      egressNetworkConnectors: ["arn:aws:lambda:us-east-1:aws:network-connector:aws-network-connector:INTERNET_EGRESS"],
      logging: { disabled: {} },
    });
  });

  it.each([
    ["us-gov-west-1", "arn:aws-us-gov:"],
    ["cn-north-1", "arn:aws-cn:"],
    ["eu-west-1", "arn:aws:"],
  ])("gets its network by an ARN of the partition of %s", async (region, partition) => {
    const settings = { imageArn: () => IMAGE, region: () => region, now: () => NOW };
    const client = new LambdaMicrovmsClient(clientSettings(service.endpoint));
    await microvmSandbox(client, settings).start(createEnvelope(), { provider: "microvm" });
    const connector = `${partition}lambda:${region}:aws:network-connector:aws-network-connector:NO_INGRESS`;
    expect(service.inputs("RunMicrovm")).toMatchObject([{ ingressNetworkConnectors: [connector] }]);
  });

  it("is started once per execution, even if a response is lost", async () => {
    const envelope = createEnvelope();
    service.loseResponse("RunMicrovm");
    expect([await start(envelope), await start(envelope)]).toEqual(["mvm-1", "mvm-1"]);
    expect(service.machines.size).toBe(1);
    expect(await start(createEnvelope())).toBe("mvm-2");
  });

  it.each([
    throttled(),
    throttled("TooManyRequestsException"),
    new Refusal("ServiceQuotaExceededException", "8 GB are in use", 402),
    new Refusal("InsufficientCapacityException", "no capacity", 500),
    new Refusal("InternalServerException", "try again", 500),
    new Refusal("ConflictException", "the image is being updated", 409),
  ])("is postponed without an error of the run if the service returns $name", async (refusal) => {
    throughout(service, "RunMicrovm", refusal);
    await expect(start(createEnvelope())).rejects.toThrow(StartDeferred);
    expect(service.machines.size).toBe(0);
  });

  it.each([
    new Refusal("AccessDeniedException", "not allowed", 403),
    new Refusal("ResourceNotFoundException", "no such image", 404),
    new Refusal("ValidationException", "wrong", 400),
  ])("fails if the service returns $name", async (refusal) => {
    throughout(service, "RunMicrovm", refusal);
    const error = await start(createEnvelope()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: refusal.name });
    expect(error).not.toBeInstanceOf(StartDeferred);
  });

  it("is confirmed as stopped by TERMINATED, and not before", async () => {
    const envelope = createEnvelope();
    const handle = await start(envelope);
    const placed = { provider: "microvm", executionId: envelope.execution_id, handle } as const;
    service.lag(20);
    expect([await sandbox.stop(placed), await sandbox.stop(placed), await sandbox.stop(placed)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("is confirmed as stopped if the service does not know it, and checked again if that is unclear", async () => {
    const placed = { provider: "microvm", executionId: "e", handle: "mvm-9" } as const;
    expect(await sandbox.stop(placed)).toBe(true);
    service.refuse("TerminateMicrovm", new Refusal("ConflictException", "it is just starting", 409));
    expect(await sandbox.stop(placed)).toBe(false);
    throughout(service, "TerminateMicrovm", throttled());
    await expect(sandbox.stop(placed)).rejects.toThrow("Rate exceeded");
    expect(await sandbox.stop({ ...placed, handle: undefined }), "its name is unknown").toBe(false);
  });
});

describe("a Fargate task", () => {
  let service: Awaited<ReturnType<typeof startEcs>>;
  let sandbox: Sandbox;
  const settings = {
    cluster: "runyard",
    subnets: ["subnet-1", "subnet-2"],
    securityGroup: "sg-1",
    executionRole: "arn:aws:iam::123456789012:role/execution",
    harnessImage: "123456789012.dkr.ecr.us-east-1.amazonaws.com/runyard-sandbox:1",
    logGroup: "/runyard/fargate",
    region: "us-east-1",
  };
  beforeEach(async () => {
    service = await startEcs();
    sandbox = fargateSandbox(
      new ECSClient(clientSettings(service.endpoint)),
      () => settings,
      () => NOW,
    );
  });
  afterEach(() => service.close());
  const start = (envelope: Envelope, dockerImage = "python:3.13") =>
    sandbox.start(envelope, { provider: "fargate", dockerImage });
  const definition = () => [...service.definitions.values()][0] ?? {};
  const containers = () => {
    const all = definition()["containerDefinitions"];
    return Array.isArray(all) ? all.filter(isRecord) : [];
  };

  it("runs in the environment's image, without a role, with outbound access only", async () => {
    const envelope = createEnvelope();
    expect(await start(envelope)).toMatch(/^0+1$/);
    const [input] = service.inputs("RunTask").slice(-1);
    expect(input).toMatchObject({
      cluster: "runyard",
      launchType: "FARGATE",
      count: 1,
      clientToken: envelope.execution_id,
      startedBy: envelope.execution_id,
      networkConfiguration: {
        awsvpcConfiguration: { subnets: settings.subnets, securityGroups: ["sg-1"], assignPublicIp: "ENABLED" },
      },
    });
    expect(input).not.toHaveProperty("enableExecuteCommand");
    expect(definition()).not.toHaveProperty("taskRoleArn");
    expect(definition()).toMatchObject({ executionRoleArn: settings.executionRole, networkMode: "awsvpc" });
    expect(containers()).toMatchObject([
      { name: "harness", image: settings.harnessImage, essential: false, readonlyRootFilesystem: true },
      {
        name: "agent",
        image: "python:3.13",
        essential: true,
        dependsOn: [{ containerName: "harness", condition: "SUCCESS" }],
        linuxParameters: { initProcessEnabled: true },
      },
    ]);
  });

  it("gets its envelope through the container that copies the harness: the agent's has no environment of ours", async () => {
    const envelope = createEnvelope();
    await start(envelope);
    const [input] = service.inputs("RunTask").slice(-1);
    expect(input?.["overrides"]).toEqual({
      containerOverrides: [
        {
          name: "harness",
          environment: [
            {
              name: "RUNYARD_ENVELOPE",
              value: JSON.stringify({ ...envelope, deadline_at: NOW + FARGATE_SECONDS * 1000 }),
            },
          ],
        },
      ],
    });
    for (const container of containers()) expect(container).not.toHaveProperty("environment");
    expect(JSON.stringify(definition())).not.toContain(envelope.key);
  });

  it("shares one task definition between all runs of an image", async () => {
    for (let run = 0; run < 3; run++) await start(createEnvelope());
    expect(service.inputs("RegisterTaskDefinition")).toHaveLength(1);
    await start(createEnvelope(), "node:24");
    expect(service.inputs("RegisterTaskDefinition")).toHaveLength(2);
    expect(service.definitions.size).toBe(2);
  });

  it("is started once per execution, even with another envelope", async () => {
    const envelope = createEnvelope();
    const first = await start(envelope);
    expect(await start(envelope)).toBe(first);
    expect(await start({ ...envelope, key: newRunKey(envelope.run_id) })).toBe(first);
    expect(service.tasks.size).toBe(1);
  });

  it("is postponed without an error of the run if there is no capacity or the request is throttled", async () => {
    service.failures.push(
      "Capacity is unavailable at this time. Please try again later or in a different availability zone",
    );
    await expect(start(createEnvelope())).rejects.toThrow(/Capacity is unavailable/);
    service.failures.push("You've reached the limit on the number of vCPUs you can run concurrently");
    await expect(start(createEnvelope())).rejects.toThrow(StartDeferred);
    throughout(service, "RunTask", throttled());
    await expect(start(createEnvelope())).rejects.toThrow(StartDeferred);
    throughout(service, "RunTask", new Refusal("ServerException", "try again", 500));
    await expect(start(createEnvelope())).rejects.toThrow(StartDeferred);
    expect(service.tasks.size).toBe(0);
  });

  it("fails if the cluster is missing or the image is malformed", async () => {
    await start(createEnvelope());
    service.refuse("RunTask", new Refusal("ClusterNotFoundException", "Cluster not found."));
    const error = await start(createEnvelope()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "ClusterNotFoundException" });
    expect(error).not.toBeInstanceOf(StartDeferred);
    await expect(sandbox.start(createEnvelope(), { provider: "lambda" })).rejects.toThrow("lambda is no container");
  });

  it("is confirmed as stopped by STOPPED, or if the service no longer knows it", async () => {
    const envelope = createEnvelope();
    const handle = await start(envelope);
    const placed = { provider: "fargate", executionId: envelope.execution_id, handle } as const;
    expect(await sandbox.stop(placed)).toBe(false);
    expect(await sandbox.stop(placed)).toBe(false);
    expect(service.inputs("StopTask"), "requested once").toHaveLength(1);
    service.settle();
    expect(await sandbox.stop(placed)).toBe(true);
    service.forget();
    expect(await sandbox.stop(placed)).toBe(true);
  });

  it("is found by its execution if its name was not recorded", async () => {
    const envelope = createEnvelope();
    await start(envelope);
    const placed = { provider: "fargate", executionId: envelope.execution_id } as const;
    service.lagLists(true);
    expect(await sandbox.stop(placed), "a list may be stale").toBe(false);
    service.lagLists(false);
    expect(await sandbox.stop(placed)).toBe(false);
    expect([...service.tasks.values()]).toMatchObject([{ desiredStatus: "STOPPED" }]);
  });
});

describe("the stand-ins", () => {
  it("accept what the SDK's model accepts, and nothing else", () => {
    const { requestProblems } = findOperation("microvms", "RunMicrovm");
    expect(requestProblems({ imageIdentifier: "a", logging: { disabled: {} } })).toEqual([]);
    expect(requestProblems({})).toEqual(["RunMicrovm.imageIdentifier is missing"]);
    expect(
      requestProblems({ imageIdentifier: "a", role: "b", maximumDurationInSeconds: "9", idlePolicy: {}, logging: {} }),
    ).toEqual([
      "RunMicrovm.role is no member",
      "RunMicrovm.idlePolicy.maxIdleDurationSeconds is missing",
      "RunMicrovm.idlePolicy.suspendedDurationSeconds is missing",
      "RunMicrovm.idlePolicy.autoResumeEnabled is missing",
      "RunMicrovm.logging must have exactly one member",
      "RunMicrovm.maximumDurationInSeconds must be a number",
    ]);
    const task = findOperation("ecs", "RunTask");
    expect(task.requestProblems({ taskDefinition: "a", overrides: { containerOverrides: [{ env: [] }] } })).toEqual([
      "RunTask.overrides.containerOverrides[0].env is no member",
    ]);
    expect(() => findOperation("ecs", "RunTasks")).toThrow("no operation RunTasks");
  });
});

describe("sandboxes of several kinds", () => {
  it("are started and stopped by their own provider, which is created on first use", async () => {
    const made: string[] = [];
    const fake = (name: string) => (): Sandbox => {
      made.push(name);
      return { start: async () => name, stop: async () => name === "fargate" };
    };
    const all = sandboxes({ lambda: fake("lambda"), microvm: fake("microvm"), fargate: fake("fargate") });
    expect(await all.start(createEnvelope(), { provider: "microvm" })).toBe("microvm");
    expect(await all.stop({ provider: "fargate", executionId: "e" })).toBe(true);
    expect(await all.stop({ provider: "microvm", executionId: "e" })).toBe(false);
    expect(made).toEqual(["microvm", "fargate"]);
  });
});
