import { createHash } from "node:crypto";
import {
  DescribeTasksCommand,
  type ECSClient,
  ListTasksCommand,
  RegisterTaskDefinitionCommand,
  type RegisterTaskDefinitionCommandInput,
  RunTaskCommand,
  StopTaskCommand,
} from "@aws-sdk/client-ecs";
import { type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";
import type { Envelope } from "#shared/wire/harness.ts";

/** Seconds that a task may run; AWS itself sets no limit. */
export const FARGATE_SECONDS = 86_400;
/** Seconds between the request to stop and the kill. */
const STOP_SECONDS = 10;

/** The deployment's settings for tasks; only the agent's image is the environment's. */
export interface FargateSettings {
  readonly cluster: string;
  /** The subnets of the tasks. */
  readonly subnets: readonly string[];
  /** The security group of the tasks, which allows no inbound traffic. */
  readonly securityGroup: string;
  /** The role that pulls the harness image and writes the log; the processes of the task never have it. */
  readonly executionRole: string;
  /** The image from which the harness is copied into the task. */
  readonly harnessImage: string;
  readonly logGroup: string;
  readonly region: string;
}

/** The volume by which the harness image passes the harness to the environment's image. */
const SHARED = { volume: "runyard", path: "/runyard" } as const;
/** The container that copies the harness, and the one that runs it. */
const HARNESS = "harness";
const AGENT = "agent";

/**
 * Creates sandboxes that are Fargate tasks, for environments with an image. The first container, of the harness image, copies Node, the
 * harness and the envelope into a volume; the second one, of the environment's image, removes the envelope and starts the harness. So
 * the image needs no preparation, and no process that a command of the agent could read has the key in its environment.
 */
export function fargateSandbox(client: ECSClient, settings: () => FargateSettings, now: () => number): Sandbox {
  async function run(envelope: Envelope, image: string): Promise<string> {
    const of = settings();
    const definition = toTaskDefinition(image, of);
    const command = new RunTaskCommand({
      ...toTaskOptions(of),
      taskDefinition: definition.family,
      clientToken: envelope.execution_id,
      startedBy: envelope.execution_id,
      overrides: {
        containerOverrides: [
          { name: HARNESS, environment: [{ name: "RUNYARD_ENVELOPE", value: toEnvelopeText(envelope, now) }] },
        ],
      },
    });
    const response = await client.send(command).catch(async (error: unknown) => {
      if (!isUnknownDefinition(error)) throw error;
      // The first run of this image registers its definition for all later ones.
      await client.send(new RegisterTaskDefinitionCommand(definition));
      return client.send(command);
    });
    const [task] = response.tasks ?? [];
    if (task?.taskArn !== undefined) return toTaskId(task.taskArn);
    throw new StartDeferred(response.failures?.map(({ reason }) => reason).join(", ") || "no task was started");
  }

  return {
    async start(envelope, choice) {
      if (choice.dockerImage === undefined) throw new Error(`${choice.provider} is no container`);
      try {
        return await run(envelope, choice.dockerImage);
      } catch (error) {
        const [taken] = tasksOfConflict(error);
        if (taken !== undefined) return toTaskId(taken);
        if (isDeferred(error)) throw new StartDeferred(error.message, { cause: error });
        throw error;
      }
    },

    async stop({ handle, executionId }) {
      const { cluster } = settings();
      const tasks = handle === undefined ? await startedBy(executionId) : [handle];
      if (tasks.length === 0) return false;
      const { tasks: found = [] } = await client.send(new DescribeTasksCommand({ cluster, tasks: [...tasks] }));
      // ECS forgets a task an hour after it has stopped.
      const alive = found.filter(({ lastStatus }) => lastStatus !== "STOPPED");
      const stopped = alive.map(({ taskArn, desiredStatus }) =>
        taskArn === undefined || desiredStatus === "STOPPED"
          ? undefined
          : client.send(new StopTaskCommand({ cluster, task: taskArn, reason: "the execution is over" })),
      );
      await Promise.all(stopped);
      return alive.length === 0;
    },
  };

  async function startedBy(executionId: string): Promise<readonly string[]> {
    const { cluster } = settings();
    const { taskArns = [] } = await client.send(new ListTasksCommand({ cluster, startedBy: executionId }));
    return taskArns;
  }
}

const toEnvelopeText = (envelope: Envelope, now: () => number): string =>
  JSON.stringify({ ...envelope, deadline_at: now() + FARGATE_SECONDS * 1000 });

const toTaskOptions = ({ cluster, subnets, securityGroup }: FargateSettings) => {
  // A task without a NAT gateway needs a public address for outbound traffic; the group allows no inbound traffic.
  const addresses = { subnets: [...subnets], securityGroups: [securityGroup], assignPublicIp: "ENABLED" as const };
  return {
    cluster,
    launchType: "FARGATE" as const,
    count: 1,
    networkConfiguration: { awsvpcConfiguration: addresses },
  };
};

/**
 * The definition of all tasks of an image. Its name is a hash of its content, so an existing definition is always the right one, and a
 * deployment that changes the content creates another.
 */
function toTaskDefinition(image: string, of: FargateSettings) {
  const logs = (stream: string) =>
    ({
      logDriver: "awslogs",
      options: { "awslogs-group": of.logGroup, "awslogs-region": of.region, "awslogs-stream-prefix": stream },
    }) as const;
  const shared = { sourceVolume: SHARED.volume, containerPath: SHARED.path };
  const definition = {
    requiresCompatibilities: ["FARGATE"],
    networkMode: "awsvpc",
    cpu: "1024",
    memory: "4096",
    runtimePlatform: { cpuArchitecture: "ARM64", operatingSystemFamily: "LINUX" },
    executionRoleArn: of.executionRole,
    volumes: [{ name: SHARED.volume }],
    containerDefinitions: [
      {
        name: HARNESS,
        image: of.harnessImage,
        essential: false,
        command: ["copy", SHARED.path],
        readonlyRootFilesystem: true,
        mountPoints: [shared],
        logConfiguration: logs(HARNESS),
      },
      {
        name: AGENT,
        image,
        essential: true,
        entryPoint: [`${SHARED.path}/node`, `${SHARED.path}/entry.mjs`],
        command: ["run", SHARED.path],
        dependsOn: [{ containerName: HARNESS, condition: "SUCCESS" }],
        stopTimeout: STOP_SECONDS,
        // The init process reaps orphaned processes.
        linuxParameters: { initProcessEnabled: true },
        mountPoints: [shared],
        logConfiguration: logs(AGENT),
      },
    ],
  } satisfies Omit<RegisterTaskDefinitionCommandInput, "family">;
  const name = createHash("sha256").update(JSON.stringify(definition)).digest("hex").slice(0, 32);
  return { ...definition, family: `runyard-${name}` } as const;
}

/** The id of a task, which is the last part of its ARN. */
const toTaskId = (arn: string): string => arn.slice(arn.lastIndexOf("/") + 1);

const isUnknownDefinition = (error: unknown): boolean =>
  error instanceof Error && error.name === "ClientException" && /task ?definition/i.test(error.message);

/** The tasks that an earlier attempt of the same execution has started, as the error names them. */
function tasksOfConflict(error: unknown): readonly string[] {
  if (!(error instanceof Error) || error.name !== "ConflictException" || !("resourceIds" in error)) return [];
  const { resourceIds } = error;
  return Array.isArray(resourceIds) ? resourceIds.filter((id) => typeof id === "string") : [];
}

const isDeferred = (error: unknown): error is Error =>
  error instanceof Error && !(error instanceof StartDeferred) && DEFERRED.has(error.name);

const DEFERRED: ReadonlySet<string> = new Set([
  "ThrottlingException",
  "ServerException",
  "LimitExceededException",
  "ServiceUnavailableException",
]);
