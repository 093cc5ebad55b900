import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { EventInvokeConfig } from "aws-cdk-lib/aws-lambda";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { BaseFunction, type BaseFunctionProps, verbNoun } from "../constructs/base-function.ts";
import { createDetailedExecutionAlarms } from "../constructs/detailed-alarms.ts";
import { createExecutionAlarms } from "../constructs/execution-alarms.ts";
import { FargateTasks } from "../constructs/fargate-tasks.ts";
import type { GithubParameters, ParameterPath, Targets, TracingTarget } from "../constructs/grants.ts";
import { MicrovmImage } from "../constructs/microvm-image.ts";
import { ModelGateway, namedModels } from "../constructs/model-gateway.ts";
import { OperationsDashboard } from "../constructs/operations-dashboard.ts";
import { namedParameter, type Parameter } from "../constructs/parameter.ts";
import { QueueWorker, WorkQueue } from "../constructs/queue-worker.ts";
import { SandboxFunction } from "../constructs/sandbox-function.ts";
import type { Sandboxes } from "../constructs/sandbox-grants.ts";
import { SandboxImage } from "../constructs/sandbox-image.ts";
import { ScheduleTimers } from "../constructs/schedule-timers.ts";
import { WebhookDelivery } from "../constructs/webhook-delivery.ts";
import { WorkerSocket } from "../constructs/worker-socket.ts";
import { eventSources } from "../event-sources.ts";
import { readPrefix, toName, toPath } from "../names.ts";
import type { Platform } from "../platform.ts";
import { settingVariables } from "../setting-variables.ts";
import type { Settings } from "../settings.ts";
import { vaultParameters } from "../vault-parameters.ts";
import type { ApiStack } from "./api-stack.ts";
import type { DataStack } from "./data-stack.ts";

export interface ExecutionStackProps extends StackProps {
  readonly platform: Platform;
  readonly data: DataStack;
  readonly api: ApiStack;
}

/** What all functions of the stack have in common. */
type CommonProps = Required<Pick<BaseFunctionProps, "platform" | "targets" | "environment">>;

/**
 * Everything between the message about a waiting run and the end of the run: the queues and their workers, the sandboxes,
 * the reaper.
 */
export class ExecutionStack extends Stack {
  /** Everything that rights can be granted on; the routes need it too. */
  readonly targets: Omit<Required<Targets>, "webhookAttempts" | "webhookSender">;
  /** Whether webhooks receive events: no emulator has the stream of the table, and an existing table may have none. */
  readonly sendsWebhooks: boolean;
  /** Connections of self-hosted workers. */
  readonly workerSocket: WorkerSocket;

  constructor(scope: Construct, id: string, { platform, data, api, ...props }: ExecutionStackProps) {
    super(scope, id, props);
    const { settings } = platform;
    const stored = { table: data.table, bucket: data.bucket, live: data.live };
    const queues = createQueues(this, api.alarmTopic);
    const { image, ...sandboxes } = createSandboxes(this, platform);
    const sandbox = new SandboxFunction(this, "RunSandbox", { platform, targets: stored, image });
    const vaults = vaultParameters(readPrefix(this));
    // The function that timers of schedules invoke.
    const fireSchedule = toName(this, verbNoun(eventSources.fireSchedule.file));
    const secrets = this.toParameterPath(vaults.secrets.formerPath);
    const vaultKeys = (name: string) => ({ ...namedParameter(this, name), kmsKey: settings.secretsKey });
    const secretsKey = vaultKeys(vaults.secrets.keys);
    const github = githubParameters(this, settings);
    const callers = createCallers(this, platform, {
      discovery: { ...stored, sandbox: sandbox.target, github },
      systems: { ...stored, secrets, secretsKey, github },
    });
    this.workerSocket = new WorkerSocket(this, "WorkerSocket", { settings });
    this.targets = {
      ...stored,
      discovery: callers.discovery.lambda,
      github,
      runsQueue: queues.runs.queue,
      endsQueue: queues.ends.queue,
      eventsQueue: queues.events.queue,
      deadRunsQueue: queues.runs.dead,
      sandbox: sandbox.target,
      sandboxes: { offered: settings.sandboxes, ...sandboxes },
      timers: new ScheduleTimers(this, "Timers", { group: toName(this), functionName: fireSchedule }),
      models: namedModels(this, settings),
      workerSockets: this.workerSocket.target,
      signInSecrets: signInSecrets(this, settings),
      tracing: tracingTarget(this, settings),
      secrets,
      secretsKey,
      webhookSecretsKey: vaultKeys(vaults.webhookSecrets.keys),
      systems: callers.systems.lambda,
      webhookSecrets: this.toParameterPath(vaults.webhookSecrets.formerPath),
      identityKeys: this.toParameterPath(toPath(this, "identity-keys"), "ring"),
    };
    const environment = { ...deploymentVariables(api, settings), ...startVariables(settings) };
    const common = { platform, targets: this.targets, environment };
    // No emulator streams responses; the local gateway does instead.
    const gateway = settings.stage === "aws" ? new ModelGateway(this, "ModelGateway", common) : undefined;
    const modelUrl = gateway?.url;
    const { dispatcher, ender, decider } = createWorkers(this, queues, common, modelUrl);
    this.workerSocket.addRoutes(this, common);
    // X-Ray bills traces, and functions that run all the time would send most of them.
    const repeated = { ...common, traced: false };
    const reaper = new BaseFunction(this, "ReapRuns", {
      ...repeated,
      ...eventSources.reapRuns,
      environment: { ...environment, ...capacityVariables(settings) },
    });
    const reconciler = new BaseFunction(this, "ReconcileSchedules", {
      ...repeated,
      ...eventSources.reconcileSchedules,
    });
    const streamArn = settings.stage === "aws" ? data.streamArn : undefined;
    this.sendsWebhooks = streamArn !== undefined;
    const webhooks = new WebhookDelivery(this, "Webhooks", { ...common, streamArn, topic: api.alarmTopic });
    const { planner, attempter } = webhooks;
    const minutely = [reaper, reconciler, decider, ...(planner === undefined ? [] : [planner])];
    const hourly = [new BaseFunction(this, "DeleteOldRuns", { ...common, ...eventSources.deleteOldRuns })];
    invokeEachMinute(this, minutely);
    invokeEachHour(this, hourly);
    const passes = { minutely: [...minutely, attempter], hourly };
    const watched = { dispatcher, reaper, passes, gateway };
    createExecutionAlarms(this, { ...watched, topic: api.alarmTopic });
    if (settings.stage === "aws") {
      const functions = { dispatcher, reaper, ender, gateway, sandbox, planner };
      createOperations(this, { settings, functions, data, socket: this.workerSocket, topic: api.alarmTopic });
    }

    new CfnOutput(this, "ModelUrl", { value: modelUrl ?? `${api.addresses.baseUrl}/model` });
    new CfnOutput(this, "WorkerSocketUrl", { value: this.workerSocket.url });
    new CfnOutput(this, "SandboxFunctionName", { value: sandbox.lambda.functionName });
    new CfnOutput(this, "Sandboxes", { value: settings.sandboxes.join(",") });
  }

  private toParameterPath(path: string, name = "*"): ParameterPath {
    return { path, arns: this.formatArn({ service: "ssm", resource: `parameter${path}/${name}` }) };
  }
}

interface OperationsProps {
  readonly settings: Settings;
  readonly topic: ITopic | undefined;
  readonly data: DataStack;
  readonly socket: WorkerSocket;
  readonly functions: {
    readonly dispatcher: BaseFunction;
    readonly reaper: BaseFunction;
    readonly ender: BaseFunction;
    readonly sandbox: SandboxFunction;
    readonly gateway: ModelGateway | undefined;
    readonly planner: BaseFunction | undefined;
  };
}

/** The dashboard, and alarms on metrics that no emulator has. */
function createOperations(stack: Stack, { settings, topic, functions, data, socket }: OperationsProps): void {
  const { sandbox, gateway, planner, ...others } = functions;
  new OperationsDashboard(stack, "Operations", { functions: { ...others, gateway } });
  if (!settings.detailedAlarms) return;
  const names = {
    sandbox: sandbox.lambda.functionName,
    gateway: gateway?.lambda.functionName,
    planner: planner?.lambda.functionName,
  };
  const watched = { tableName: data.table.tableName, scheduleGroup: toName(stack), socketApiId: socket.apiId };
  createDetailedExecutionAlarms(stack, { ...watched, functions: names, topic });
}

/** The settings and the addresses of the deployment, as its functions read them. */
export function deploymentVariables(
  { addresses }: Pick<ApiStack, "addresses">,
  settings: Settings,
): Record<string, string> {
  const { baseUrl, webUrl } = addresses;
  return { BASE_URL: baseUrl, ...(webUrl !== undefined && { WEB_URL: webUrl }), ...settingVariables(settings) };
}

/** Lambda reloads an image that was idle for weeks before its next start, which takes longer than the start of a zip. */
const startVariables = ({ lambdaSandbox }: Settings): Record<string, string> =>
  lambdaSandbox === "image" ? { SANDBOX_START_SECONDS: "60" } : {};

/** The limit of the deployment's executions, for the functions that count them or let waiting runs start. */
const capacityVariables = ({ concurrency: { maxExecutions } }: Settings): Record<string, string> =>
  maxExecutions === undefined ? {} : { MAX_EXECUTIONS: String(maxExecutions) };

type Queues = ReturnType<typeof createQueues>;

function createQueues(stack: Stack, topic: ITopic | undefined) {
  return {
    runs: new WorkQueue(stack, "Runs", {
      name: "runs",
      consumer: eventSources.dispatchRun,
      deadConsumer: eventSources.reapRuns,
      deadImpact: "Runs end in ERROR because their dispatch never ends, or was throttled for two days.",
      // Lambda counts an invocation that it throttles as a delivery. With the visibility timeout, this takes two days.
      deliveries: 1_000,
      topic,
    }),
    ends: new WorkQueue(stack, "Ends", {
      name: "ends",
      consumer: eventSources.endRun,
      deadImpact: "Runs have ended without a transcript.",
      topic,
    }),
    events: new WorkQueue(stack, "Events", {
      name: "events",
      consumer: eventSources.decideEvents,
      deadImpact: "Events of triggers are decided on late, by the pass of each minute only.",
      topic,
    }),
  };
}

/** The consumers of the queues. They are created after the queues, since each may send to the queues of others. */
function createWorkers(stack: Stack, queues: Queues, common: CommonProps, modelUrl: string | undefined) {
  const { concurrency, reserveConcurrency } = common.platform.settings;
  const { dispatch } = concurrency;
  const capacity = capacityVariables(common.platform.settings);
  const modelVariables = modelUrl === undefined ? {} : { MODEL_URL: modelUrl };
  const dispatcher = new QueueWorker(stack, "DispatchRun", {
    ...common,
    ...eventSources.dispatchRun,
    environment: { ...common.environment, ...modelVariables, ...capacity },
    source: queues.runs.queue,
    maxConcurrency: dispatch,
    // Equals the maximum concurrency of its queue.
    ...(reserveConcurrency && { reserved: dispatch }),
    // It sends a run whose sandbox cannot start yet back to its own queue.
    recursive: true,
  });
  const ender = new QueueWorker(stack, "EndRun", {
    ...common,
    ...eventSources.endRun,
    environment: { ...common.environment, ...capacity },
    source: queues.ends.queue,
    maxConcurrency: Math.min(20, dispatch),
    // The end of a run requests the next waiting one, whose dispatch may end it at once: many such runs are one chain of invocations.
    recursive: true,
  });
  const firing = new BaseFunction(stack, "FireSchedule", { ...common, ...eventSources.fireSchedule });
  // The reconciler fires timers that fail all three attempts.
  const retries = { retryAttempts: 2, maxEventAge: Duration.minutes(10) };
  new EventInvokeConfig(stack, "FireScheduleRetries", { function: firing.lambda, ...retries });
  const decider = new QueueWorker(stack, "DecideEvents", {
    ...common,
    ...eventSources.decideEvents,
    source: queues.events.queue,
    maxConcurrency: Math.min(20, dispatch),
    // The rule invokes it each minute, and X-Ray bills traces.
    traced: false,
    // Its pass of each minute sends to its own queue.
    recursive: true,
  });
  return { dispatcher, ender, decider };
}

/** Invokes functions each minute and never retries: the next pass repeats what this one missed. */
function invokeEachMinute(stack: Stack, functions: readonly BaseFunction[]): void {
  new Rule(stack, "EachMinute", {
    ruleName: toName(stack, "reap-runs"),
    description: "Finds expired leases of executions, missed firings of schedules and due deliveries of webhooks.",
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: functions.map((one) => invokeOnce(one, Duration.seconds(60))),
  });
}

/** Invokes functions each hour and never retries: the next pass continues where this one stopped. */
function invokeEachHour(stack: Stack, functions: readonly BaseFunction[]): void {
  new Rule(stack, "EachHour", {
    ruleName: toName(stack, "delete-old-runs"),
    description: "Deletes runs that are older than their team keeps them.",
    schedule: Schedule.rate(Duration.hours(1)),
    targets: functions.map((one) => invokeOnce(one, Duration.minutes(5))),
  });
}

/**
 * A target that neither EventBridge nor Lambda retries. By default, Lambda retries a failed function twice and keeps throttled events
 * for six hours, so that the passes of that time would all start together.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
function invokeOnce(invoked: BaseFunction, maxEventAge: Duration): LambdaFunction {
  const once = { retryAttempts: 0, maxEventAge };
  new EventInvokeConfig(invoked, "Events", { function: invoked.lambda, ...once });
  return new LambdaFunction(invoked.lambda, once);
}

/** The functions that other functions invoke to call systems outside of AWS. */
function createCallers(
  stack: Stack,
  platform: Platform,
  targets: { readonly discovery: Targets; readonly systems: Targets },
): { readonly discovery: BaseFunction; readonly systems: BaseFunction } {
  const { githubApiUrl: GITHUB_API_URL, gitlabApiUrl, slackApiUrl } = platform.settings;
  const discovery = new BaseFunction(stack, "DiscoverSkills", {
    platform,
    targets: targets.discovery,
    ...eventSources.discoverSkills,
    environment: { GITHUB_API_URL },
  });
  const systems = new BaseFunction(stack, "CallSystems", {
    platform,
    targets: targets.systems,
    ...eventSources.callSystems,
    environment: { GITHUB_API_URL, GITLAB_API_URL: gitlabApiUrl, SLACK_API_URL: slackApiUrl },
  });
  return { discovery, systems };
}

function githubParameters(stack: Stack, { githubApiUrl, githubTokenParameter, githubApp }: Settings): GithubParameters {
  return {
    apiUrl: githubApiUrl,
    token: namedParameter(stack, githubTokenParameter),
    ...(githubApp && {
      app: {
        id: githubApp.id,
        key: namedParameter(stack, githubApp.keyParameter),
        clientSecret: namedParameter(stack, githubApp.clientSecretParameter),
        webhookSecret: namedParameter(stack, githubApp.webhookSecretParameter),
      },
    }),
  };
}

function signInSecrets(stack: Stack, { oidc }: Settings): Parameter[] {
  return oidc?.clientSecretParameter === undefined ? [] : [namedParameter(stack, oidc.clientSecretParameter)];
}

function tracingTarget(stack: Stack, { tracing }: Settings): TracingTarget | undefined {
  if (tracing === undefined) return undefined;
  const { endpoint, headersParameter: name } = tracing;
  return { endpoint, ...(name !== undefined && { headers: namedParameter(stack, name) }) };
}

/** The image of the sandboxes, and what the kinds of sandboxes other than functions need, if the settings include them. */
function createSandboxes(
  stack: Stack,
  { settings, bundle }: Platform,
): Omit<Sandboxes, "offered"> & { readonly image?: SandboxImage } {
  const has = (kind: Settings["sandboxes"][number]) => settings.sandboxes.includes(kind);
  if (settings.lambdaSandbox === "zip" && !has("microvm") && !has("fargate")) return {};
  const source = new Asset(stack, "SandboxSource", { path: bundle.imageDir() });
  const image =
    settings.lambdaSandbox === "image" || has("fargate")
      ? new SandboxImage(stack, "SandboxImage", { source })
      : undefined;
  const { microvmRegions: regions, microvmBaseVersion: baseVersion } = settings;
  return {
    ...(image && { image }),
    ...(has("microvm") && { microvm: new MicrovmImage(stack, "MicrovmImage", { source, regions, baseVersion }) }),
    ...(has("fargate") && image && { fargate: new FargateTasks(stack, "FargateTasks", { image }) }),
  };
}
