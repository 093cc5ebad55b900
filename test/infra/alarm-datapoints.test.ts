import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dispatchRun } from "#functions/executions/dispatch-run.ts";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { createSchedule } from "#functions/schedules/create-schedule.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../support/control-plane.ts";
import { consume, createRun, workingRun } from "../support/execution.ts";
import { sqsEvent } from "../support/sqs-event.ts";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface Alarm {
  readonly AlarmName: string;
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Statistic: "Sum" | "Maximum" | "Average";
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly Dimensions?: { Name: string; Value: unknown }[];
}
interface Filter {
  readonly FilterPattern: string;
  readonly MetricTransformations: { MetricName: string; MetricValue: string }[];
}
type Line = Readonly<Record<string, unknown>>;

/** The metrics of AWS that alarms watch, by namespace: what the documentation says their dimensions are, and where. */
const AWS_METRICS: Readonly<
  Record<string, { readonly source: string; readonly metrics: Readonly<Record<string, readonly string[]>> }>
> = {
  "AWS/ApiGateway": {
    source: "https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-logging.html",
    metrics: { IntegrationError: ["ApiId", "ApiId, Stage"] },
  },
  "AWS/CloudFront": {
    source: "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/programming-cloudwatch-metrics.html",
    metrics: { "5xxErrorRate": ["DistributionId, Region"] },
  },
  "AWS/DynamoDB": {
    source: "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html",
    metrics: {
      TransactionConflict: ["TableName"],
      WriteThrottleEvents: ["TableName", "GlobalSecondaryIndexName, TableName"],
    },
  },
  "AWS/Lambda": {
    // Url4xxCount and Url5xxCount: https://docs.aws.amazon.com/lambda/latest/dg/urls-monitoring.html
    source: "https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html",
    metrics: {
      AsyncEventsDropped: ["FunctionName"],
      Invocations: ["", "FunctionName"],
      IteratorAge: ["FunctionName"],
      // Without a dimension: of all functions of the account in the region.
      Throttles: ["", "FunctionName"],
      Url4xxCount: ["FunctionName"],
      Url5xxCount: ["FunctionName"],
    },
  },
  "AWS/SQS": {
    source:
      "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html",
    metrics: { ApproximateNumberOfMessagesVisible: ["QueueName"], NumberOfMessagesReceived: ["QueueName"] },
  },
  "AWS/Scheduler": {
    source: "https://docs.aws.amazon.com/scheduler/latest/UserGuide/monitoring-cloudwatch.html",
    metrics: { TargetErrorCount: ["", "ScheduleGroup"] },
  },
};

let deployment: Synthesized;
let plane: TestControlPlane;
let lines: Line[] = [];
beforeAll(() => {
  deployment = synthesize({ detailedAlarms: "true" });
});
beforeEach(async () => {
  plane = await createTestControlPlane();
  lines = [];
  setLogOutput((line) => void lines.push(JSON.parse(line)));
});
afterEach(() => setLogOutput((line) => void process.stdout.write(line)));

const listAlarms = () => deployment.all<Alarm>("AWS::CloudWatch::Alarm").map(({ Properties }) => Properties);
const listFilters = () => deployment.all<Filter>("AWS::Logs::MetricFilter").map(({ Properties }) => Properties);

/** Reads a member of a log line by a selector such as `$.record.status`. */
const select = (line: unknown, selector: string): unknown =>
  selector
    .split(".")
    .slice(1)
    .reduce<unknown>(
      (value, name) => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined),
      line,
    );

/** Whether a line matches a filter pattern for JSON, as CloudWatch Logs evaluates those of the template. */
function matches(line: Line, pattern: string): boolean {
  const terms = pattern.replace(/^\{ | \}$/g, "");
  if (terms.includes(" || ")) return terms.split(" || ").some((term) => matches(line, term));
  if (terms.includes(" && ")) return terms.split(" && ").every((term) => matches(line, term));
  const [, selector = "", operator, text = ""] = /^\(?(\$[\w.]+) (IS TRUE|>|=|!=) ?"?([^")]*)"?\)?$/.exec(terms) ?? [];
  const value = select(line, selector);
  if (operator === "IS TRUE") return value === true;
  if (operator === ">") return typeof value === "number" && value > Number(text);
  if (value === undefined || operator === undefined) return false;
  const isEqual = text.endsWith("*") ? String(value).startsWith(text.slice(0, -1)) : String(value) === text;
  return operator === "=" ? isEqual : !isEqual;
}

/** Whether an alarm on the deployment's own metric is active after periods with these lines. */
function isActive(name: string, periods: readonly (readonly Line[])[]): boolean {
  const alarm = listAlarms().find(({ AlarmName }) => AlarmName === `runyard-${name}`);
  if (alarm === undefined) throw new Error(`there is no alarm ${name}`);
  const datapoints = periods.map((period) => {
    const values = listFilters()
      .filter(({ MetricTransformations: [one] }) => one?.MetricName === alarm.MetricName)
      .flatMap(({ FilterPattern, MetricTransformations: [one] }) => {
        const value = one?.MetricValue ?? "";
        return period
          .filter((line) => matches(line, FilterPattern))
          .map((line) => Number(value.startsWith("$") ? select(line, value) : value));
      });
    return alarm.Statistic === "Sum" ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  const latest = datapoints.slice(-alarm.EvaluationPeriods);
  return latest.length === alarm.EvaluationPeriods && latest.every((value) => value >= alarm.Threshold);
}

/** Returns the lines that an action logs. */
async function collect(act: () => Promise<unknown>): Promise<Line[]> {
  lines = [];
  await act();
  return lines;
}

const everyMinute = { source: "aws.events", "detail-type": "Scheduled Event" } as const;
const queues = {
  passes: { everySeconds: 60, sendPass: async () => undefined },
  deadRuns: { drain: async () => undefined },
};
const reapOnce = () => reapRuns.handle(everyMinute, { ...plane.ports, ...queues });

/** Makes a pass of the reaper in each of several minutes. */
async function passMinutes(minutes: number, each: () => Promise<unknown>): Promise<Line[][]> {
  const periods: Line[][] = [];
  for (let minute = 0; minute < minutes; minute++) {
    plane.clock.now += 60_000;
    await each();
    periods.push(await collect(reapOnce));
  }
  return periods;
}

/** The line that API Gateway writes for a response of an endpoint, by the format of the template. */
function toAccessLine(status: number): Line {
  const [stage] = deployment.all<{ AccessLogSettings?: { Format: string } }>("AWS::ApiGatewayV2::Stage");
  return JSON.parse((stage?.Properties.AccessLogSettings?.Format ?? "").replace("$context.status", String(status)));
}

const CROSSED = {
  "runs-waiting": async () => {
    plane.capacity.maxExecutions = 1;
    const working = await workingRun(plane);
    await consume(plane, "runs", await createRun(plane));
    return passMinutes(10, () => working.beat());
  },
  "ends-waiting": async () => {
    await (await workingRun(plane)).finish();
    // The message of the end is lost, and so are those that the reaper sends.
    return passMinutes(10, async () => {
      plane.sent.length = 0;
    });
  },
  "leases-extended": async () => {
    await createClient(plane).put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 100 } });
    for (let index = 0; index < 60; index++) await workingRun(plane);
    plane.clock.now += 31_000;
    return [await collect(reapOnce)];
  },
  "starts-failing": async () => {
    const runId = await createRun(plane);
    const start = () => Promise.reject(new Error("the function does not exist"));
    const ports = { ...plane.ports, sandbox: { ...plane.ports.sandbox, start } };
    return [await collect(() => dispatchRun.handle(sqsEvent("runs", [{ v: 1, run_id: runId }]), ports))];
  },
  "passes-failing": async () => {
    const query = () => Promise.reject(new Error("the table does not respond"));
    const ports = { ...plane.ports, ...queues, runs: { ...plane.ports.runs, query } };
    const results = await Promise.allSettled([1, 2, 3].map(() => reapRuns.handle(everyMinute, ports)));
    // The line that Lambda writes at the end of an invocation: https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
    return [
      results.map(({ status }) => ({
        type: "platform.report",
        record: { status: status === "rejected" ? "error" : "success" },
      })),
    ];
  },
  "api-errors": async () => {
    const batchGet = () => Promise.reject(new Error("the table does not respond"));
    const ports = { ...plane.ports, table: { ...plane.ports.table, batchGet } };
    const event = httpEvent({ key: plane.key, body: { name: "a", cron_schedule: "0 5 * * *", prompt: "a" } });
    const responses = await Promise.all([1, 2, 3, 4, 5].map(() => createSchedule.handle(event, ports)));
    const statuses = responses.map(({ statusCode }) => statusCode);
    return [statuses.map(toAccessLine)];
  },
  "requests-refused": async () => {
    await createClient(plane).put(`/agent/teams/${plane.team}`, { settings: { queue_limit: 1 } });
    await createRun(plane);
    const statuses: number[] = [];
    for (let index = 0; index < 100; index++) {
      statuses.push((await createClient(plane).post("/agent/runs", { prompt: `again ${index}` })).status);
    }
    return [statuses.map(toAccessLine)];
  },
} as const satisfies Record<string, () => Promise<readonly (readonly Line[])[]>>;

describe("an alarm on a metric of the deployment", () => {
  it.each(Object.entries(CROSSED))(
    "%s is crossed by what the code logs, and is not active before",
    async (name, act) => {
      expect(
        isActive(
          name,
          Array.from({ length: 10 }, () => []),
        ),
      ).toBe(false);
      expect(isActive(name, await act())).toBe(true);
    },
  );

  it("is each of those that no service of AWS has", () => {
    const own = listAlarms().filter(({ Namespace }) => !Namespace.startsWith("AWS/"));
    expect(own.map(({ AlarmName }) => AlarmName.replace("runyard-", "")).toSorted()).toEqual(
      Object.keys(CROSSED).toSorted(),
    );
  });
});

describe("an alarm on a metric of AWS", () => {
  it("watches one that the documentation names, with the dimensions that it has there", () => {
    const described = listAlarms()
      .filter(({ Namespace }) => Namespace.startsWith("AWS/"))
      .map(({ AlarmName, Namespace, MetricName, Dimensions = [] }) => {
        const dimensions = Dimensions.map(({ Name }) => Name)
          .toSorted()
          .join(", ");
        return { AlarmName, isDocumented: AWS_METRICS[Namespace]?.metrics[MetricName]?.includes(dimensions) ?? false };
      });
    expect(described.length).toBeGreaterThan(12);
    expect(described.filter(({ isDocumented }) => !isDocumented)).toEqual([]);
  });

  it("has dimensions whose values are resources of the deployment", () => {
    const names = new Set(
      deployment.stacks.flatMap(({ resources }) =>
        resources.flatMap(({ Properties }) =>
          Object.values(Properties ?? {}).filter((value) => typeof value === "string"),
        ),
      ),
    );
    for (const { AlarmName, Dimensions = [] } of listAlarms()) {
      for (const { Name, Value } of Dimensions) {
        const isKnown = typeof Value !== "string" || names.has(Value) || (Name === "Region" && Value === "Global");
        expect(isKnown, `${AlarmName} ${Name} ${JSON.stringify(Value)}`).toBe(true);
      }
    }
  });
});
