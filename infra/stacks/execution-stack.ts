import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { EventInvokeConfig, TenancyConfig } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { BaseFunction } from "#infra/constructs/base-function.ts";
import { Alarm } from "../constructs/alarm.ts";
import { FargateTasks } from "../constructs/fargate-tasks.ts";
import type { Targets } from "../constructs/grants.ts";
import { MicrovmImage } from "../constructs/microvm-image.ts";
import { ModelGateway, modelsOf } from "../constructs/model-gateway.ts";
import { parameterOf } from "../constructs/parameter.ts";
import { QueueWorker, WorkQueue } from "../constructs/queue-worker.ts";
import type { Sandboxes } from "../constructs/sandbox-grants.ts";
import { SandboxImage } from "../constructs/sandbox-image.ts";
import { ScheduleTimers } from "../constructs/schedule-timers.ts";
import type { Platform } from "../platform.ts";
import { settingVariables } from "../setting-variables.ts";
import type { Settings } from "../settings.ts";
import { triggers } from "../triggers.ts";
import type { ApiStack } from "./api-stack.ts";
import type { DataStack } from "./data-stack.ts";

/** Begins the names of all parameters that hold values of secrets; functions have no right on any other. */
const SECRETS_PATH = "/runyard/secrets";

export interface ExecutionStackProps extends StackProps {
  readonly platform: Platform;
  readonly data: DataStack;
  readonly api: ApiStack;
}

/** From the message that a run waits to the sandbox that it ran in: queues, their workers, the sandbox, the reaper. */
export class ExecutionStack extends Stack {
  /** All that rights can be about, for the routes. */
  readonly targets: Required<Targets>;

  constructor(scope: Construct, id: string, { platform, data, api, ...props }: ExecutionStackProps) {
    super(scope, id, props);
    const { settings } = platform;
    const topic = api.alarmTopic;
    const runs = new WorkQueue(this, "Runs", {
      name: "runs",
      consumerTimeoutSeconds: triggers.dispatchRun.timeoutSeconds,
      deadConsumerTimeoutSeconds: triggers.failRun.timeoutSeconds,
    });
    const ends = new WorkQueue(this, "Ends", { name: "ends", consumerTimeoutSeconds: triggers.endRun.timeoutSeconds });
    const reaper = new WorkQueue(this, "Reaper", {
      name: "reaper",
      consumerTimeoutSeconds: triggers.reapRuns.timeoutSeconds,
    });
    const ticks = new WorkQueue(this, "Ticks", {
      name: "ticks",
      consumerTimeoutSeconds: triggers.fireSchedule.timeoutSeconds,
    });
    const stored = { table: data.table, bucket: data.bucket };

    const { image, ...sandboxes } = this.#sandboxes(platform);
    const sandbox = new BaseFunction(this, "RunSandbox", {
      platform,
      targets: stored,
      ...triggers.runSandbox,
      timeoutSeconds: settings.sandboxSeconds ?? triggers.runSandbox.timeoutSeconds,
      // On the emulator, and where the settings say so, the plain runtime with the harness beside its handler.
      image: settings.lambdaSandbox === "image" ? image : undefined,
      // Traces are a right of their own, and a sandbox has none.
      traced: false,
      diskMib: 4096,
      // No run finds what another one left behind: each execution is a tenant with an environment of its own.
      tenancy: TenancyConfig.PER_TENANT,
      ...(settings.sandboxConcurrency !== undefined && { reserved: settings.sandboxConcurrency }),
    });
    // A start is never repeated behind the control plane's back: what did not start in a minute is given up, and the reaper,
    // which has seen the silence by then, sends the run again. An on-failure destination would say so too, but its sending
    // is a right of the sandbox's own role, and so of whoever runs commands there.
    new EventInvokeConfig(this, "RunSandboxStart", {
      function: sandbox.lambda,
      retryAttempts: 0,
      maxEventAge: Duration.seconds(60),
    });

    const { githubTokenParameter, githubApp } = settings;
    const github = {
      apiUrl: settings.githubApiUrl,
      token: parameterOf(this, githubTokenParameter),
      ...(githubApp && { app: { id: githubApp.id, key: parameterOf(this, githubApp.keyParameter) } }),
    };
    const discovery = new BaseFunction(this, "DiscoverSkills", {
      platform,
      targets: { ...stored, sandbox: sandbox.lambda, github },
      ...triggers.discoverSkills,
      environment: { GITHUB_API_URL: settings.githubApiUrl },
    });

    this.targets = {
      ...stored,
      discovery: discovery.lambda,
      github,
      runsQueue: runs.queue,
      endsQueue: ends.queue,
      reaperQueue: reaper.queue,
      sandbox: sandbox.lambda,
      sandboxes: { offered: settings.sandboxes, ...sandboxes },
      timers: new ScheduleTimers(this, "Timers", { group: "runyard", queue: ticks.queue }),
      models: modelsOf(this, settings),
      secrets: { path: SECRETS_PATH, arns: this.formatArn({ service: "ssm", resource: `parameter${SECRETS_PATH}/*` }) },
    };
    const environment = { ...environmentOf(api), ...settingVariables(settings) };
    const common = { platform, targets: this.targets, environment };
    // No emulator streams answers; the local front door does what the gateway does here.
    const modelUrl = settings.stage === "aws" ? new ModelGateway(this, "ModelGateway", common).url : undefined;
    const modelAddress = modelUrl === undefined ? {} : { MODEL_URL: modelUrl };
    new QueueWorker(this, "DispatchRun", {
      ...common,
      ...triggers.dispatchRun,
      environment: { ...environment, ...modelAddress },
      source: runs.queue,
      maxConcurrency: settings.dispatchConcurrency,
    });
    new QueueWorker(this, "FailRun", { ...common, ...triggers.failRun, source: runs.dead, maxConcurrency: 2 });
    new QueueWorker(this, "EndRun", {
      ...common,
      ...triggers.endRun,
      source: ends.queue,
      maxConcurrency: Math.min(20, settings.dispatchConcurrency),
    });
    const reapRuns = new QueueWorker(this, "ReapRuns", {
      ...common,
      ...triggers.reapRuns,
      source: reaper.queue,
      maxConcurrency: 2,
    });
    new QueueWorker(this, "FireSchedule", {
      ...common,
      ...triggers.fireSchedule,
      source: ticks.queue,
      maxConcurrency: Math.min(20, settings.dispatchConcurrency),
    });
    const reconcileSchedules = new BaseFunction(this, "ReconcileSchedules", {
      ...common,
      ...triggers.reconcileSchedules,
    });
    // The next minute repeats what this one missed.
    const once = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };
    new Rule(this, "EachMinute", {
      ruleName: "runyard-reap-runs",
      description: "Looks for runs that fell silent, and for schedules that did not fire.",
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(reapRuns.lambda, once), new LambdaFunction(reconcileSchedules.lambda, once)],
    });

    new Alarm(this, "RunsWaiting", {
      name: "runs-waiting",
      impact: "Runs stay QUEUED for minutes although their team has room.",
      metric: runs.queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1), statistic: Stats.MAXIMUM }),
      threshold: 300,
      periods: 5,
      topic,
    });
    new Alarm(this, "RunsDead", {
      name: "runs-dead",
      impact: "Runs end in ERROR because they could not be dispatched.",
      // Its consumer empties the queue, so what it received says more than what lies in it.
      metric: runs.dead.metricNumberOfMessagesReceived({ period: Duration.minutes(5), statistic: Stats.SUM }),
      topic,
    });
    new Alarm(this, "EndsDead", {
      name: "ends-dead",
      impact: "Runs have ended without a transcript.",
      metric: queueDepth(ends.dead),
      topic,
    });
    new Alarm(this, "ReaperDead", {
      name: "reaper-dead",
      impact: "Lost runs are noticed up to half a minute later.",
      metric: queueDepth(reaper.dead),
      topic,
    });
    new Alarm(this, "TicksDead", {
      name: "ticks-dead",
      impact: "Schedules fire a minute or two late, or their firings fail.",
      metric: queueDepth(ticks.dead),
      topic,
    });
    new Alarm(this, "ReconcilerFailing", {
      name: "reconciler-failing",
      impact: "Firings that were missed are not made up for, and changes of schedules may have no effect.",
      metric: reconcileSchedules.lambda.metricErrors({ period: Duration.minutes(5), statistic: Stats.SUM }),
      threshold: 3,
      topic,
    });
    new Alarm(this, "ReaperSilent", {
      name: "reaper-silent",
      impact: "Runs whose sandbox was lost stay INPROGRESS, and runs whose message was lost stay QUEUED.",
      metric: reapRuns.lambda.metricInvocations({ period: Duration.minutes(1), statistic: Stats.SUM }),
      periods: 5,
      alarmWhenBelow: true,
      topic,
    });
    new Alarm(this, "LeasesExtended", {
      name: "leases-extended",
      impact: "Many runs seem to stand still at once, and those whose sandbox really died wait longer for a new one.",
      // The reaper says so in its log, once a pass; counting it there costs nothing while it does not happen.
      metric: new MetricFilter(this, "BrakedPasses", {
        logGroup: reapRuns.log,
        filterPattern: FilterPattern.any(
          FilterPattern.booleanValue("$.circuitOpen", true),
          FilterPattern.booleanValue("$.message.circuitOpen", true),
        ),
        metricNamespace: "Runyard",
        metricName: "BrakedPasses",
      }).metric({ period: Duration.minutes(5), statistic: Stats.SUM }),
      topic,
    });
    new Alarm(this, "FunctionsThrottled", {
      name: "functions-throttled",
      impact: "Calls are answered 503 and sandboxes start late, since the account has no free Lambda executions.",
      metric: new Metric({
        namespace: "AWS/Lambda",
        metricName: "Throttles",
        statistic: Stats.SUM,
        period: Duration.minutes(5),
      }),
      threshold: 10,
      topic,
    });

    new CfnOutput(this, "ModelUrl", { value: modelUrl ?? `${api.addresses.baseUrl}/model` });
    new CfnOutput(this, "SandboxFunctionName", { value: sandbox.lambda.functionName });
    new CfnOutput(this, "Sandboxes", { value: settings.sandboxes.join(",") });
  }

  /** The image of the sandboxes, and what those that are no functions need, as far as the settings ask for any. */
  #sandboxes({ settings, bundle }: Platform): Omit<Sandboxes, "offered"> & { readonly image?: SandboxImage } {
    const has = (kind: Settings["sandboxes"][number]) => settings.sandboxes.includes(kind);
    if (settings.lambdaSandbox === "zip" && !has("microvm") && !has("fargate")) return {};
    const source = new Asset(this, "SandboxSource", { path: bundle.imageDir() });
    const image =
      settings.lambdaSandbox === "image" || has("fargate")
        ? new SandboxImage(this, "SandboxImage", { source })
        : undefined;
    const { microvmRegions: regions, microvmBaseVersion: baseVersion } = settings;
    return {
      ...(image && { image }),
      ...(has("microvm") && { microvm: new MicrovmImage(this, "MicrovmImage", { source, regions, baseVersion }) }),
      ...(has("fargate") && image && { fargate: new FargateTasks(this, "FargateTasks", { image }) }),
    };
  }
}

/** The addresses of the deployment as its functions read them. */
export function environmentOf(api: ApiStack): Record<string, string> {
  const { baseUrl, webUrl } = api.addresses;
  return { BASE_URL: baseUrl, ...(webUrl !== undefined && { WEB_URL: webUrl }) };
}

function queueDepth(queue: Queue): Metric {
  return queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: Stats.MAXIMUM });
}
