import { Duration } from "aws-cdk-lib";
import { Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventInvokeConfig, TenancyConfig } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { eventSources } from "../event-sources.ts";
import { SANDBOX_DISK_MB } from "../sandbox-price.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";
import type { SandboxTarget } from "./grants.ts";
import { OWN_LOG_ACTIONS } from "./own-log.ts";

/** The handler of deployments whose executions share Lambda's execution environments. */
const SHARED_HANDLER = "sharedHandler";

/** The function that is the sandbox of an execution: isolated from other executions, without traces, and started at most once. */
export class SandboxFunction extends BaseFunction {
  /** What functions that start sandboxes need. */
  readonly target: SandboxTarget;

  constructor(scope: Construct, id: string, props: Pick<BaseFunctionProps, "platform" | "targets" | "image">) {
    const { settings } = props.platform;
    super(scope, id, {
      ...props,
      ...eventSources.runSandbox,
      // CloudFormation replaces the function if its package type or tenancy changes, and cannot while the name is taken.
      name: `run-sandbox-${settings.lambdaSandbox}${settings.sandboxTenancy ? "" : "-shared"}`,
      ...(settings.sandboxMemoryMb !== undefined && { memoryMb: settings.sandboxMemoryMb }),
      // No environment variables: Lambda decrypts them with the function's role, which the statement below denies, so each start
      // would fail.
      ...(!settings.sandboxTenancy && { handler: SHARED_HANDLER }),
      // Commands can read the credentials of this role. No policy that is added to it later gives them more.
      statements: [new PolicyStatement({ effect: Effect.DENY, notActions: [...OWN_LOG_ACTIONS], resources: ["*"] })],
      timeoutSeconds: settings.sandboxSeconds ?? eventSources.runSandbox.timeoutSeconds,
      // On the emulator, and with the setting lambdaSandbox=zip, the plain runtime with the harness next to its handler.
      image: settings.lambdaSandbox === "image" ? props.image : undefined,
      // Sending traces requires a right, and a sandbox has none.
      traced: false,
      diskMib: settings.sandboxDiskMb ?? SANDBOX_DISK_MB,
      // Each execution is a tenant with its own environment, so no run finds files or processes of another.
      ...(settings.sandboxTenancy && { tenancy: TenancyConfig.PER_TENANT }),
      ...(settings.sandboxConcurrency !== undefined && { reserved: settings.sandboxConcurrency }),
    });
    const { functionArn, functionName } = this.lambda;
    const variables = settings.sandboxTenancy ? {} : { SANDBOX_TENANCY: "shared" };
    this.target = { functionArn, functionName, variables };
    // Lambda never retries a start on its own. It drops one that did not begin within a minute; by then the reaper has found the
    // expired lease and dispatches the run again. An on-failure destination would report the drop, but sending to it is a right of
    // the sandbox's own role, and so of every command that runs there.
    new EventInvokeConfig(scope, `${id}Start`, {
      function: this.lambda,
      retryAttempts: 0,
      maxEventAge: Duration.seconds(60),
    });
  }
}
