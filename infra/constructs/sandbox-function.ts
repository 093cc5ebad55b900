import { Duration } from "aws-cdk-lib";
import { EventInvokeConfig, TenancyConfig } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { triggers } from "../triggers.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";

/** The function that is the sandbox of an execution: isolated from other executions, without traces, and started at most once. */
export class SandboxFunction extends BaseFunction {
  constructor(scope: Construct, id: string, props: Pick<BaseFunctionProps, "platform" | "targets" | "image">) {
    const { settings } = props.platform;
    super(scope, id, {
      ...props,
      ...triggers.runSandbox,
      timeoutSeconds: settings.sandboxSeconds ?? triggers.runSandbox.timeoutSeconds,
      // On the emulator, and with the setting lambdaSandbox=zip, the plain runtime with the harness next to its handler.
      image: settings.lambdaSandbox === "image" ? props.image : undefined,
      // Sending traces is a right, and a sandbox has none.
      traced: false,
      diskMib: 4096,
      // No run finds what another one left behind: each execution is a tenant with its own environment.
      tenancy: TenancyConfig.PER_TENANT,
      ...(settings.sandboxConcurrency !== undefined && { reserved: settings.sandboxConcurrency }),
    });
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
