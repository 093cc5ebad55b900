import { type App, Tags } from "aws-cdk-lib";
import { pascal, readPrefix, toStackName } from "./names.ts";
import type { Platform } from "./platform.ts";
import { ApiStack } from "./stacks/api-stack.ts";
import { DataStack } from "./stacks/data-stack.ts";
import { ExecutionStack } from "./stacks/execution-stack.ts";
import { RoutesStack, resources } from "./stacks/routes-stack.ts";

/** The whole deployment: data, then the API, then execution, then the routes of each resource. */
export function runyard(app: App, platform: Platform): void {
  const { settings } = platform;
  const prefix = readPrefix(app);
  Tags.of(app).add("application", prefix);
  const stackName = (name: string) => toStackName(prefix, name);
  const data = new DataStack(app, "Runyard-Data", {
    settings,
    stackName: stackName("Data"),
    description: "Runyard: table and bucket (retained)",
  });
  const api = new ApiStack(app, "Runyard-Api", {
    platform,
    data,
    stackName: stackName("Api"),
    description: "Runyard: HTTP API and CloudFront",
  });
  // A deployment that fails should fail before it is reachable.
  api.addStackDependency(data);
  const execution = new ExecutionStack(app, "Runyard-Execution", {
    platform,
    data,
    api,
    stackName: stackName("Execution"),
    description: "Runyard: queues, sandbox, reaper",
  });
  for (const resource of resources) {
    new RoutesStack(app, `Runyard-Routes-${pascal(resource)}`, {
      platform,
      api,
      execution,
      resource,
      stackName: stackName(`Routes-${pascal(resource)}`),
      description: `Runyard: routes of ${resource}`,
    });
  }
}
