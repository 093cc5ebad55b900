import { ecsClient, lambdaClient, microvmsClient } from "#shared/aws/clients.ts";
import { fargateSandbox } from "#shared/aws/fargate-sandbox.ts";
import { lambdaSandbox } from "#shared/aws/lambda-sandbox.ts";
import { microvmSandbox } from "#shared/aws/microvm-sandbox.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import type { SandboxProvider } from "#shared/settings.ts";
import { listSetting, setting } from "#shared/settings.ts";

/** The sandboxes on AWS, each made at its first use: a deployment without containers has no settings for them. */
export const liveSandbox = (): Pick<Sandbox, "start"> =>
  eachOf({ ...others, lambda: () => lambdaSandbox(lambdaClient(), () => setting("SANDBOX_FUNCTION_NAME")) });

/** Those that can be stopped: whoever stops them never calls a function. */
export const liveStops = (): Pick<Sandbox, "stop"> => eachOf({ ...others, lambda: () => UNSTOPPABLE });

const others = {
  microvm: () =>
    microvmSandbox(microvmsClient(), {
      imageArn: () => setting("MICROVM_IMAGE_ARN"),
      region: () => setting("AWS_REGION"),
      now: Date.now,
    }),
  fargate: () => fargateSandbox(ecsClient(), fargateSettings, Date.now),
};

const UNSTOPPABLE: Sandbox = {
  start: () => Promise.reject(new Error("nothing is started here")),
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

/** One sandbox out of those that there are: each call goes to the one that it is for. */
export function eachOf(make: Readonly<Record<SandboxProvider, () => Sandbox>>): Sandbox {
  const made = new Map<SandboxProvider, Sandbox>();
  const of = (provider: SandboxProvider): Sandbox => {
    const sandbox = made.get(provider) ?? make[provider]();
    made.set(provider, sandbox);
    return sandbox;
  };
  return {
    start: (envelope, choice) => of(choice.provider).start(envelope, choice),
    stop: (placed) => of(placed.provider).stop(placed),
  };
}
