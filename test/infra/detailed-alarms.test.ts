import { beforeAll, describe, expect, it } from "vitest";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { consume, createRun, deliver, workingRun } from "../support/execution.ts";
import { EVERY_SETTING, type Synthesized, synthesize } from "./synthesize.ts";

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Statistic: string;
  readonly Threshold: number;
  readonly Period: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
  readonly Dimensions?: { Name: string; Value: unknown }[];
}
interface Filter {
  readonly FilterPattern: string;
  readonly LogGroupName: { Ref: string };
  readonly MetricTransformations: { MetricName: string; MetricValue: string }[];
}

let usual: Synthesized;
let detailed: Synthesized;
beforeAll(() => {
  usual = synthesize();
  detailed = synthesize({ detailedAlarms: "true" });
});

const listAlarms = (of: Synthesized) => of.all<Alarm>("AWS::CloudWatch::Alarm").map(({ Properties }) => Properties);
const listFilters = (of: Synthesized) => of.all<Filter>("AWS::Logs::MetricFilter").map(({ Properties }) => Properties);

/** Collects the lines that an action logs. */
async function readLines(act: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  setLogOutput((line) => void lines.push(line));
  try {
    await act();
  } finally {
    setLogOutput((line) => void process.stdout.write(line));
  }
  return lines.map((line) => JSON.parse(line));
}

/** Makes passes of the reaper, one each minute. */
async function passMinutes(plane: TestControlPlane, minutes: number, each: () => Promise<unknown>): Promise<void> {
  const passes = { everySeconds: 10, sendPass: async () => undefined };
  for (let minute = 0; minute < minutes; minute++) {
    plane.clock.now += 60_000;
    await each();
    await reapUntilQuiet(5, { ...plane.ports, passes });
  }
}

describe("the setting detailedAlarms", () => {
  it("adds an alarm for each service that the usual ones do not watch, by the metrics of AWS", () => {
    const names = new Set(listAlarms(usual).map(({ AlarmName }) => AlarmName));
    const added = listAlarms(detailed).filter(({ AlarmName }) => !names.has(AlarmName));
    const described = added.map(({ AlarmName, Statistic, Namespace, MetricName, Threshold, Dimensions = [] }) => [
      AlarmName.replace("runyard-", ""),
      `${Statistic} of ${Namespace} ${MetricName} from ${Threshold} on`,
      Dimensions.map(({ Name }) => Name).join(", "),
    ]);
    expect(described.toSorted()).toEqual([
      ["cloudfront-errors", "Average of AWS/CloudFront 5xxErrorRate from 5 on", "DistributionId, Region"],
      ["events-late", "Maximum of AWS/Lambda IteratorAge from 300000 on", "FunctionName"],
      ["model-calls-failing", "Sum of AWS/Lambda Url5xxCount from 20 on", "FunctionName"],
      ["requests-refused", "Sum of Runyard RefusedRequests from 100 on", ""],
      ["sockets-failing", "Sum of AWS/ApiGateway IntegrationError from 5 on", "ApiId"],
      ["starts-dropped", "Sum of AWS/Lambda AsyncEventsDropped from 1 on", "FunctionName"],
      ["streams-failing", "Sum of AWS/Lambda Url5xxCount from 5 on", "FunctionName"],
      ["table-conflicts", "Sum of AWS/DynamoDB TransactionConflict from 1000 on", "TableName"],
      ["table-throttled", "Sum of AWS/DynamoDB WriteThrottleEvents from 100 on", "TableName"],
      ["timers-failing", "Sum of AWS/Scheduler TargetErrorCount from 1 on", "ScheduleGroup"],
    ]);
    for (const alarm of added) {
      expect(alarm).toMatchObject({
        Period: 300,
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
        TreatMissingData: "notBreaching",
      });
      expect(alarm.AlarmDescription).toMatch(/^[A-Z].{20,} What to do: docs\/runbook\.md#[a-z-]+$/);
    }
  });

  it("watches CloudFront only in the region that has its metrics, and not at all without CloudFront", () => {
    const [alarm] = detailed
      .all<Alarm>("AWS::CloudWatch::Alarm")
      .filter(({ Properties }) => Properties.AlarmName === "runyard-cloudfront-errors");
    expect(alarm).toHaveProperty("Condition");
    const names = listAlarms(synthesize({ detailedAlarms: "true", frontDoor: "false" })).map((one) => one.AlarmName);
    expect(names).not.toContain("runyard-cloudfront-errors");
    expect(names).toContain("runyard-table-throttled");
  });

  it("is false by default, so that an idle deployment has 13 alarms", () => {
    expect(listAlarms(usual)).toHaveLength(13);
    expect(listAlarms(synthesize(EVERY_SETTING))).toHaveLength(23);
  });
});

describe("requests-refused and api-errors", () => {
  it("count lines of the access log of both APIs, by the status that API Gateway writes as a text", () => {
    const formats = usual
      .all<{ AccessLogSettings?: { Format: string; DestinationArn: unknown } }>("AWS::ApiGatewayV2::Stage")
      .filter(({ stack }) => stack === "Runyard-Api")
      .map(({ Properties }) => Properties.AccessLogSettings);
    expect(formats).toHaveLength(2);
    expect(formats[0]).toEqual(formats[1]);
    const line = JSON.parse((formats[0]?.Format ?? "").replace("$context.status", "429"));
    expect(line).toHaveProperty("status", "429");
    const patterns = listFilters(usual)
      .filter(({ LogGroupName }) => LogGroupName.Ref.startsWith("AccessLog"))
      .map(({ FilterPattern, MetricTransformations: [one] }) => `${one?.MetricName}: ${FilterPattern}`);
    expect(patterns.toSorted()).toEqual(['ApiErrors: { $.status = "5*" }', 'RefusedRequests: { $.status = "429" }']);
  });
});

describe("ends-waiting", () => {
  it("reads the age of the oldest end that was not handled from the line that a pass of the reaper logs", async () => {
    const filter = listFilters(usual).find(({ MetricTransformations: [one] }) => one?.MetricName === "EndsWait");
    expect(filter).toMatchObject({
      FilterPattern: "{ $.endsWaitedSeconds > 0 }",
      MetricTransformations: [{ MetricValue: "$.endsWaitedSeconds" }],
    });
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const lines = await readLines(async () => {
      await harness.finish();
      // The message of the end is lost, and so are those that the reaper sends.
      await passMinutes(plane, 6, async () => {
        plane.sent.length = 0;
      });
    });
    const waits = lines.filter(({ message }) => message === "reaper pass").map((line) => line["endsWaitedSeconds"]);
    expect(waits).toEqual([60, 120, 180, 240, 300, 360]);
    const after = await readLines(async () => {
      await deliver(plane);
      await passMinutes(plane, 2, async () => undefined);
    });
    expect(after.some((line) => "endsWaitedSeconds" in line)).toBe(false);
  });
});

describe("the dashboard", () => {
  const readQueries = () => {
    const [dashboard] = usual.all<{ DashboardName: string; DashboardBody: unknown }>("AWS::CloudWatch::Dashboard");
    return { name: dashboard?.Properties.DashboardName, body: JSON.stringify(dashboard?.Properties.DashboardBody) };
  };

  it("has the four questions, and is the only one of the deployment", () => {
    expect(usual.all("AWS::CloudWatch::Dashboard")).toHaveLength(1);
    const { name, body } = readQueries();
    expect(name).toBe("runyard-operations");
    for (const question of ["Do runs start?", "Do they end well?", "What do they cost?", "Who waits?"]) {
      expect(body).toContain(question);
    }
  });

  it("reads lines that a run logs when it has ended, with its owner, state, cost and time", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "hello", team: true });
    plane.clock.now += 5_000;
    const lines = await readLines(async () => {
      await harness.finish();
      await deliver(plane);
    });
    const [line, ...others] = lines.filter(({ message }) => message === "run counted");
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      run_id: harness.run_id,
      owner_type: "Team",
      owner_uid: plane.team,
      state: "SUCCEEDED",
      cost: 0,
      run_seconds: 5,
    });
    const { body } = readQueries();
    for (const field of ["owner_type", "owner_uid", "run_seconds", "run counted"]) expect(body).toContain(field);
  });

  it("reads lines of runs that find no capacity, with their owner", async () => {
    const plane = await createTestControlPlane();
    plane.capacity.maxExecutions = 1;
    await workingRun(plane);
    const runId = await createRun(plane, { prompt: "waits", team: true });
    const lines = await readLines(() => consume(plane, "runs", runId));
    expect(lines.filter(({ message }) => message === "run waits")).toMatchObject([
      { run_id: runId, owner_uid: plane.team, capacity: "deployment" },
    ]);
    expect(readQueries().body).toContain("run waits");
  });
});
