import { isRecord } from "./aws-model.ts";
import { Refusal, type Request, startService } from "./aws-server.ts";

const ARN = "arn:aws:ecs:us-east-1:123456789012";

interface Task {
  readonly taskArn: string;
  lastStatus: string;
  desiredStatus: string;
  readonly startedBy?: string;
}

/**
 * ECS with Fargate: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/. A start needs an existing task definition and is
 * idempotent by its token. It may fail for lack of capacity without an error of the call. A stopped task stops some time later.
 */
export async function startEcs() {
  const definitions = new Map<string, Readonly<Record<string, unknown>>>();
  const tasks = new Map<string, Task>();
  const tokens = new Map<string, { readonly request: string; readonly arn: string }>();
  /** Reasons why the next starts fail, one each. */
  const failures: string[] = [];
  /** True if lists do not yet contain the tasks. */
  let listsLag = false;

  const service = await startService(
    "ecs",
    {
      RegisterTaskDefinition(input) {
        const family = String(input["family"]);
        definitions.set(family, input);
        return { taskDefinition: { taskDefinitionArn: `${ARN}:task-definition/${family}:1`, family, revision: 1 } };
      },
      RunTask(input) {
        if (!definitions.has(String(input["taskDefinition"]))) {
          throw new Refusal("ClientException", "TaskDefinition not found.");
        }
        const request = JSON.stringify(input);
        const known = tokens.get(String(input["clientToken"]));
        if (known !== undefined && known.request !== request) {
          throw new Refusal("ConflictException", "the client token is in use", 400, { resourceIds: [known.arn] });
        }
        const before = known && tasks.get(known.arn);
        if (before !== undefined) return { tasks: [{ ...before }], failures: [] };
        const reason = failures.shift();
        if (reason !== undefined) return { tasks: [], failures: [{ reason }] };
        const taskArn = `${ARN}:task/${String(input["cluster"])}/${String(tasks.size + 1).padStart(32, "0")}`;
        const task = {
          taskArn,
          lastStatus: "PROVISIONING",
          desiredStatus: "RUNNING",
          startedBy: String(input["startedBy"]),
        };
        tasks.set(taskArn, task);
        tokens.set(String(input["clientToken"]), { request, arn: taskArn });
        return { tasks: [{ ...task }], failures: [] };
      },
      ListTasks(input) {
        const found = [...tasks.values()].filter(
          (task) => task.desiredStatus === "RUNNING" && task.startedBy === input["startedBy"],
        );
        return { taskArns: listsLag ? [] : found.map(({ taskArn }) => taskArn) };
      },
      DescribeTasks(input) {
        const requested = Array.isArray(input["tasks"]) ? input["tasks"].map(String) : [];
        const found = requested.map((name) => [name, findTask(name)] as const);
        return {
          tasks: found.flatMap(([, task]) => (task === undefined ? [] : [{ ...task }])),
          failures: found.flatMap(([arn, task]) => (task === undefined ? [{ arn, reason: "MISSING" }] : [])),
        };
      },
      StopTask(input) {
        const task = findTask(String(input["task"]));
        if (task === undefined) throw new Refusal("InvalidParameterException", "The referenced task was not found.");
        task.desiredStatus = "STOPPED";
        return { task: { ...task } };
      },
    },
    findLimits,
  );

  const findTask = (name: string): Task | undefined =>
    [...tasks.values()].find(({ taskArn }) => taskArn.endsWith(name));

  return {
    ...service,
    definitions,
    tasks,
    failures,
    /** Stops every task whose stop was requested. */
    settle: () => {
      for (const task of tasks.values()) if (task.desiredStatus === "STOPPED") task.lastStatus = "STOPPED";
    },
    /** Removes all tasks, as ECS does an hour after they stopped. */
    forget: () => tasks.clear(),
    lagLists: (lags: boolean) => {
      listsLag = lags;
    },
  };
}

/** The least and the most memory that Fargate offers for a number of CPU units. */
const MEMORY: Readonly<Record<string, readonly [number, number]>> = { "1024": [2048, 8192], "2048": [4096, 16_384] };

/** Checks the limits that are in the API reference and not in the SDK's model. */
function findLimits({ operation, input }: Request): string[] {
  if (operation === "RunTask") {
    return [
      ...(/^[\x21-\x7e]{1,64}$/.test(String(input["clientToken"])) ? [] : ["clientToken must have 1 to 64 characters"]),
      ...(/^[\w/-]{1,128}$/.test(String(input["startedBy"])) ? [] : ["startedBy must have 1 to 128 characters"]),
      ...(JSON.stringify(input["overrides"] ?? {}).length <= 8192
        ? []
        : ["overrides must have at most 8192 characters"]),
      ...(input["launchType"] === "FARGATE" ? [] : ["launchType must be FARGATE"]),
    ];
  }
  if (operation !== "RegisterTaskDefinition") return [];
  const [least, most] = MEMORY[String(input["cpu"])] ?? [1, 0];
  const memory = Number(input["memory"]);
  const containers = Array.isArray(input["containerDefinitions"]) ? input["containerDefinitions"].filter(isRecord) : [];
  return [
    ...(/^[\w-]{1,255}$/.test(String(input["family"])) ? [] : ["family must have letters, numbers, _ and -"]),
    ...(memory >= least && memory <= most ? [] : ["Fargate has no such combination of cpu and memory"]),
    ...(input["networkMode"] === "awsvpc" ? [] : ["networkMode must be awsvpc"]),
    ...(containers.some(({ essential }) => essential !== false) ? [] : ["one container must be essential"]),
    ...containers.flatMap(({ name, stopTimeout }) =>
      stopTimeout === undefined || Number(stopTimeout) <= 120 ? [] : [`${String(name)}: stopTimeout is at most 120`],
    ),
  ];
}
