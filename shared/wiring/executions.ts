import { setTimeout as sleep } from "node:timers/promises";
import { ecsClient, lambdaClient, microvmsClient, ssmClient } from "#shared/aws/clients.ts";
import { fargateSandbox } from "#shared/aws/fargate-sandbox.ts";
import { lambdaSandbox } from "#shared/aws/lambda-sandbox.ts";
import { microvmSandbox } from "#shared/aws/microvm-sandbox.ts";
import { sqsClient } from "#shared/aws/sqs-client.ts";
import { sqsDeadLetterQueue } from "#shared/aws/sqs-queue.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import type { DispatchPorts } from "#shared/executions/dispatch-run.ts";
import type { EndPorts, ReaperPorts } from "#shared/executions/execution-ports.ts";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import type { PromptPorts } from "#shared/executions/resolve-prompt.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import { sandboxes } from "#shared/sandbox/sandboxes.ts";
import { hasTenants, listSetting, offeredSandboxes, setting, settingIfAny } from "#shared/settings.ts";
import { createSpanExporter } from "#shared/tracing/create-span-exporter.ts";
import { createGithubApp } from "./github.ts";
import { createRunEndpointPorts, createRunPorts } from "./runs.ts";
import { createTokenEndpoints } from "./token-endpoints.ts";
import { createVault } from "./vault.ts";
import { createWorkerSockets } from "./workers.ts";

/** The ports of the endpoint that hands out a run's prompt and the values of its secrets. */
export function createPromptPorts(): PromptPorts & HttpPorts {
  const ports = createRunEndpointPorts();
  return { ...ports, vault: createVault(), app: createGithubApp(ports.table), tokens: createTokenEndpoints() };
}

/** The ports of the consumer that starts sandboxes. */
export function createDispatchPorts(): DispatchPorts {
  return {
    ...createRunPorts(),
    sandbox: sandboxes({
      ...stoppable,
      lambda: () => lambdaSandbox(lambdaClient(), () => setting("SANDBOX_FUNCTION_NAME"), hasTenants),
    }),
    offered: offeredSandboxes(),
    sockets: createWorkerSockets(),
    modelUrl: settingIfAny("MODEL_URL"),
  };
}

/** The ports of the consumer that completes the end of a run; it stops sandboxes and starts none. */
export const createEndPorts = (): EndPorts => ({
  ...createRunPorts(),
  sockets: createWorkerSockets(),
  sandbox: sandboxes({ ...stoppable, lambda: () => UNSTOPPABLE }),
  spans: createSpanExporter(process.env, readOtlpHeaders),
});

/** The headers of requests to the collector of traces. The parameter is read for each function that starts. */
async function readOtlpHeaders(): Promise<string | undefined> {
  const parameter = settingIfAny("OTLP_HEADERS_PARAMETER");
  return parameter === undefined ? undefined : ssmParameter(ssmClient(), parameter, Date.now)();
}

/** The ports of the reaper. It waits for its next pass within its invocation, which costs less than a queue that is polled all the time. */
export function createReaperPorts(): ReaperPorts {
  const ports: ReaperPorts = {
    ...createRunPorts(),
    deadRuns: sqsDeadLetterQueue(sqsClient(), () => setting("DEAD_RUNS_QUEUE_URL")),
    passes: {
      // A healthy run is checked twice a minute; to wait for more passes would cost more than they find.
      everySeconds: 30,
      async sendPass(pass, delaySeconds) {
        await sleep(delaySeconds * 1000);
        await reapUntilQuiet(pass, ports);
      },
    },
  };
  return ports;
}

/** The sandboxes that their provider can stop. */
const stoppable = {
  microvm: () =>
    microvmSandbox(microvmsClient(), {
      imageArn: () => setting("MICROVM_IMAGE_ARN"),
      region: () => setting("AWS_REGION"),
      now: Date.now,
    }),
  fargate: () => fargateSandbox(ecsClient(), fargateSettings, Date.now),
};

const UNSTOPPABLE: Sandbox = {
  start: () => Promise.reject(new Error("this function starts no sandbox")),
  stop: async () => false,
};

const fargateSettings = () => ({
  cluster: setting("FARGATE_CLUSTER"),
  subnets: listSetting("FARGATE_SUBNETS"),
  securityGroup: setting("FARGATE_SECURITY_GROUP"),
  executionRole: setting("FARGATE_EXECUTION_ROLE_ARN"),
  harnessImage: setting("FARGATE_HARNESS_IMAGE"),
  logGroup: setting("FARGATE_LOG_GROUP"),
  region: setting("AWS_REGION"),
});
