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

/** Seconds that a task may work; AWS itself sets no limit. */
export const FARGATE_SECONDS = 86_400;
/** Seconds between the request to stop and the kill. */
const STOP_SECONDS = 10;

/** What tasks are made of; all but the image of the environment is the deployment's. */
export interface FargateSettings {
  readonly cluster: string;
  /** Where tasks get their addresses. */
  readonly subnets: readonly string[];
  /** The one security group, which lets nothing in. */
  readonly securityGroup: string;
  /** The role that pulls our image and opens the log; what runs in the task never has it. */
  readonly executionRole: string;
  /** Our own image, out of which the harness is copied into the task. */
  readonly harnessImage: string;
  readonly logGroup: string;
  readonly region: string;
}

/** Where our image puts the harness, and the environment's image finds it. */
const SHARED = { volume: "runyard", path: "/runyard" } as const;
/** The container that copies it, and the one that works. */
const HARNESS = "harness";
const AGENT = "agent";

/**
 * Sandboxes that are Fargate tasks, for environments with an image of their own. A first container, of our image, copies Node and
 * the harness into a volume and lays the envelope beside them; the second, of the environment's image, takes the envelope away and
 * begins. So the image needs nothing of ours, and no process that an agent's command could read ever has the key in its environment.
 */
export function fargateSandbox(client: ECSClient, settings: () => FargateSettings, now: () => number): Sandbox {
  async function run(envelope: Envelope, image: string): Promise<string> {
    const of = settings();
    const definition = taskDefinition(image, of);
    const command = new RunTaskCommand({
      ...placeOf(of),
      taskDefinition: definition.family,
      clientToken: envelope.execution_id,
      startedBy: envelope.execution_id,
      overrides: {
        containerOverrides: [
          { name: HARNESS, environment: [{ name: "RUNYARD_ENVELOPE", value: told(envelope, now) }] },
        ],
      },
    });
    const answer = await client.send(command).catch(async (error: unknown) => {
      if (!isUnknownDefinition(error)) throw error;
      // The first run of this image: its definition stays for all that follow.
      await client.send(new RegisterTaskDefinitionCommand(definition));
      return client.send(command);
    });
    const [task] = answer.tasks ?? [];
    if (task?.taskArn !== undefined) return nameOf(task.taskArn);
    throw new StartDeferred(answer.failures?.map(({ reason }) => reason).join(", ") || "no task was started");
  }

  return {
    async start(envelope, choice) {
      if (choice.provider !== "fargate") throw new Error(`${choice.provider} is no container`);
      try {
        return await run(envelope, choice.dockerImage);
      } catch (error) {
        const [taken] = tasksOfConflict(error);
        if (taken !== undefined) return nameOf(taken);
        if (isDeferred(error)) throw new StartDeferred(error.message, { cause: error });
        throw error;
      }
    },

    async stop({ handle, executionId }) {
      const { cluster } = settings();
      const tasks = handle === undefined ? await startedBy(executionId) : [handle];
      if (tasks.length === 0) return false;
      const { tasks: found = [] } = await client.send(new DescribeTasksCommand({ cluster, tasks: [...tasks] }));
      // A task that nobody knows any more has been gone for an hour.
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

const told = (envelope: Envelope, now: () => number): string =>
  JSON.stringify({ ...envelope, deadline_at: now() + FARGATE_SECONDS * 1000 });

const placeOf = ({ cluster, subnets, securityGroup }: FargateSettings) => {
  // A public address is what a task without a NAT gateway reaches the outside by; the group lets nothing in.
  const addresses = { subnets: [...subnets], securityGroups: [securityGroup], assignPublicIp: "ENABLED" as const };
  return {
    cluster,
    launchType: "FARGATE" as const,
    count: 1,
    networkConfiguration: { awsvpcConfiguration: addresses },
  };
};

/**
 * The definition of all tasks of an image. Its family is called after what is in it, so the one that is there is the right one, and
 * a deployment that changes anything makes another.
 */
function taskDefinition(image: string, of: FargateSettings) {
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
        // What outlives its parent is taken up, and does not stay as a zombie.
        linuxParameters: { initProcessEnabled: true },
        mountPoints: [shared],
        logConfiguration: logs(AGENT),
      },
    ],
  } satisfies Omit<RegisterTaskDefinitionCommandInput, "family">;
  const name = createHash("sha256").update(JSON.stringify(definition)).digest("hex").slice(0, 32);
  return { ...definition, family: `runyard-${name}` } as const;
}

/** A task's own name, the last part of its ARN. */
const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf("/") + 1);

const isUnknownDefinition = (error: unknown): boolean =>
  error instanceof Error && error.name === "ClientException" && /task ?definition/i.test(error.message);

/** The tasks that an earlier attempt of the same execution has started. */
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
