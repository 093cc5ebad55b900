import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { WEBHOOK_EVENT_TYPES } from "#shared/wire/webhooks/webhook.ts";
import { createTestControlPlane } from "../support/control-plane.ts";
import { consume, createRun, workingRun } from "../support/execution.ts";
import { reap } from "../support/reaper.ts";
import { repository, type Synthesized, synthesize } from "./synthesize.ts";

interface QueueProperties {
  readonly QueueName: string;
  readonly SqsManagedSseEnabled?: boolean;
  readonly VisibilityTimeout: number;
  readonly RedrivePolicy?: { deadLetterTargetArn: { "Fn::GetAtt": [string, string] }; maxReceiveCount: number };
}
interface MappingProperties {
  readonly EventSourceArn: { "Fn::GetAtt": [string, string] };
  readonly FunctionName: { Ref: string };
  readonly BatchSize: number;
  readonly FunctionResponseTypes?: string[];
  readonly ScalingConfig?: { MaximumConcurrency: number };
  readonly FilterCriteria?: { Filters: { Pattern: string }[] };
  readonly DestinationConfig?: { OnFailure: { Destination: { "Fn::GetAtt": [string, string] } } };
}
interface AlarmProperties {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: unknown[];
  readonly Dimensions?: { Name: string; Value: unknown }[];
}

let deployment: Synthesized;
beforeAll(() => {
  deployment = synthesize();
});
const queues = () => deployment.all<QueueProperties>("AWS::SQS::Queue");
const alarms = () => deployment.all<AlarmProperties>("AWS::CloudWatch::Alarm");
const deadLetters = () => [
  ...queues().flatMap(({ Properties }) => Properties.RedrivePolicy?.deadLetterTargetArn["Fn::GetAtt"][0] ?? []),
  ...mappings().flatMap(({ Properties }) => Properties.DestinationConfig?.OnFailure.Destination["Fn::GetAtt"][0] ?? []),
];
const mappings = () => deployment.all<MappingProperties>("AWS::Lambda::EventSourceMapping");

describe("every queue", () => {
  it("has a dead-letter queue or is one", () => {
    expect(queues().length).toBeGreaterThan(0);
    for (const { id, Properties } of queues()) {
      const is = deadLetters().includes(id);
      expect(Properties.RedrivePolicy !== undefined || is, Properties.QueueName).toBe(true);
      const deliveries = Properties.QueueName === "runyard-runs" ? 1_000 : 5;
      if (Properties.RedrivePolicy) expect(Properties.RedrivePolicy.maxReceiveCount).toBe(deliveries);
    }
  });

  it("of runs keeps a message for two days that Lambda throttles at each delivery", () => {
    const runs = queues().find(({ Properties }) => Properties.QueueName === "runyard-runs")?.Properties;
    const seconds = (runs?.RedrivePolicy?.maxReceiveCount ?? 0) * (runs?.VisibilityTimeout ?? 0);
    expect(seconds).toBeGreaterThanOrEqual(2 * 86_400);
    expect(seconds, "before the message expires").toBeLessThan(14 * 86_400);
  });

  it("that holds dead letters has an alarm", () => {
    const watched = alarms().flatMap(({ Properties }) => JSON.stringify(Properties.Dimensions ?? []));
    for (const id of deadLetters())
      expect(
        watched.some((dimensions) => dimensions.includes(id)),
        id,
      ).toBe(true);
  });

  it("is encrypted by SQS and closed to plain HTTP", () => {
    const policies = deployment.all<{ Queues: { Ref: string }[]; PolicyDocument: object }>("AWS::SQS::QueuePolicy");
    for (const { id, Properties } of queues()) {
      expect(Properties.SqsManagedSseEnabled).toBe(true);
      const policy = policies.find((one) => one.Properties.Queues.some(({ Ref }) => Ref === id));
      expect(JSON.stringify(policy?.Properties.PolicyDocument)).toMatch(
        /"Deny".*"aws:SecureTransport":"false"|"aws:SecureTransport":"false".*"Deny"/,
      );
    }
  });
});

describe("every consumer of a queue", () => {
  it("takes one message at a time, reports failures, and hides a message six times its maximum time", () => {
    const ofQueues = mappings().filter(({ Properties }) => !("StartingPosition" in Properties));
    expect(ofQueues.length).toBeGreaterThan(0);
    for (const { stack, Properties } of ofQueues) {
      expect(Properties.BatchSize).toBe(1);
      expect(Properties.FunctionResponseTypes).toEqual(["ReportBatchItemFailures"]);
      const queue = queues().find(
        (one) => one.stack === stack && one.id === Properties.EventSourceArn["Fn::GetAtt"][0],
      );
      const consumer = deployment
        .all<{ Timeout: number }>("AWS::Lambda::Function")
        .find((one) => one.stack === stack && one.id === Properties.FunctionName.Ref);
      expect(queue?.Properties.VisibilityTimeout).toBe(6 * (consumer?.Properties.Timeout ?? Number.NaN));
    }
  });

  it("that dispatches runs has the configured concurrency", () => {
    const limits = (of: Synthesized) =>
      of
        .all<MappingProperties>("AWS::Lambda::EventSourceMapping")
        .map(({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency);
    expect(limits(deployment)).toContain(50);
    expect(limits(synthesize({ dispatchConcurrency: "7" }))).toContain(7);
  });
});

describe("the stream of the table", () => {
  it("invokes the planner of webhooks for new events of runs only, and gives up a record after an hour", () => {
    const [stream, ...others] = mappings().filter(({ Properties }) => "StartingPosition" in Properties);
    expect(others).toEqual([]);
    expect(stream?.Properties).toMatchObject({
      BatchSize: 100,
      BisectBatchOnFunctionError: true,
      MaximumRecordAgeInSeconds: 3_600,
      StartingPosition: "LATEST",
    });
    const [{ Pattern } = { Pattern: "{}" }] = stream?.Properties.FilterCriteria?.Filters ?? [];
    expect(JSON.parse(Pattern)).toEqual({
      eventName: ["INSERT"],
      dynamodb: {
        Keys: { sk: { S: [{ prefix: "EVENT#" }] } },
        NewImage: { type: { S: [...WEBHOOK_EVENT_TYPES] } },
      },
    });
  });

  it.each([{ stage: "local" }, { existingTable: "runyard-restored" }])(
    "is absent with %o, where neither webhooks nor runs with a notify_url can be created",
    (context: Record<string, string>) => {
      const without = synthesize(context);
      const all = without.all<MappingProperties>("AWS::Lambda::EventSourceMapping");
      expect(all.filter(({ Properties }) => "StartingPosition" in Properties)).toEqual([]);
      const unavailable = without
        .all<{ FunctionName: string; Environment: { Variables: object } }>("AWS::Lambda::Function")
        .filter(({ Properties }) => "WEBHOOKS" in (Properties.Environment?.Variables ?? {}))
        .map(({ Properties }) => Properties.FunctionName);
      expect(unavailable.toSorted()).toEqual([
        "runyard-create-run",
        "runyard-create-trigger",
        "runyard-create-webhook",
        "runyard-update-trigger",
      ]);
    },
  );
});

describe("every alarm", () => {
  const runbook = readFileSync(join(repository, "docs/runbook.md"), "utf8");
  const headings = [...runbook.matchAll(/^## (\S+)$/gm)].map(([, heading]) => heading);

  it("describes the impact on users and links to the runbook, which has its heading", () => {
    for (const { Properties } of alarms()) {
      const name = Properties.AlarmName.replace(/^runyard-/, "");
      expect(Properties.AlarmDescription).toMatch(new RegExp(`^[A-Z].{20,}\\. What to do: docs/runbook\\.md#${name}$`));
      expect(headings).toContain(name);
    }
  });

  it("has the runbook's only headings, each with meaning, checks and remedies", () => {
    const names = synthesize({ detailedAlarms: "true" })
      .all<AlarmProperties>("AWS::CloudWatch::Alarm")
      .map(({ Properties }) => Properties.AlarmName.replace(/^runyard-/, ""));
    expect([...headings].sort()).toEqual([...names].sort());
    for (const section of runbook.split(/^## /m).slice(1)) {
      for (const part of ["**Means**", "**Look at**", "**Do**"]) expect(section).toContain(part);
    }
  });

  it("is mailed to the configured address, by a topic that requires TLS", () => {
    expect(deployment.all("AWS::SNS::Subscription")).toEqual([]);
    const mailed = synthesize({ alarmEmail: "ops@example.com" });
    for (const { Properties } of mailed.all<AlarmProperties>("AWS::CloudWatch::Alarm")) {
      expect(Properties.AlarmActions).toHaveLength(1);
    }
    expect(mailed.all("AWS::SNS::Subscription")).toHaveLength(1);
    expect(JSON.stringify(mailed.all("AWS::SNS::TopicPolicy"))).toContain("aws:SecureTransport");
  });

  it("starts-failing counts refused starts in the dispatcher's log, and ended runs with silent sandboxes in the reaper's", () => {
    const filters = deployment
      .all<{ FilterPattern: string; LogGroupName: { Ref: string }; MetricTransformations: { MetricName: string }[] }>(
        "AWS::Logs::MetricFilter",
      )
      .filter(({ Properties }) => Properties.MetricTransformations[0]?.MetricName === "FailedStarts");
    for (const { Properties } of filters) expect(Properties.FilterPattern).toContain("$.startFailed IS TRUE");
    expect(filters.map(({ Properties }) => Properties.LogGroupName.Ref.slice(0, 10)).sort()).toEqual([
      "DispatchRu",
      "ReapRunsLo",
    ]);
  });

  it("passes-failing counts failures of each function that a rule invokes, also through another, and one of an hourly function is enough", () => {
    interface FilterProperties {
      readonly FilterPattern: string;
      readonly LogGroupName: { Ref: string };
      readonly MetricTransformations: { MetricName: string; MetricValue: string }[];
    }
    const counted = deployment
      .all<FilterProperties>("AWS::Logs::MetricFilter")
      .filter(({ Properties }) => Properties.MetricTransformations[0]?.MetricName === "FailedPasses");
    for (const { Properties } of counted) {
      expect(Properties.FilterPattern).toBe('{ ($.type = "platform.report") && ($.record.status != "success") }');
    }
    const functions = deployment.all<{ FunctionName: string; LoggingConfig: { LogGroup: { Ref: string } } }>(
      "AWS::Lambda::Function",
    );
    const rules = deployment.all<{ ScheduleExpression: string; Targets: { Arn: { "Fn::GetAtt": [string] } }[] }>(
      "AWS::Events::Rule",
    );
    const logOf = (invoked: (one: (typeof functions)[number]) => boolean) =>
      functions.find(invoked)?.Properties.LoggingConfig.LogGroup.Ref;
    const expected = rules.flatMap(({ Properties: { ScheduleExpression, Targets } }) =>
      Targets.map(({ Arn }) => [
        logOf(({ id }) => id === Arn["Fn::GetAtt"][0]),
        ScheduleExpression === "rate(1 minute)" ? "1" : "3",
      ]),
    );
    const attempts = [logOf(({ Properties }) => Properties.FunctionName === "runyard-attempt-deliveries"), "1"];
    expect(
      new Set(
        counted.map(({ Properties: { LogGroupName, MetricTransformations } }) => [
          LogGroupName.Ref,
          MetricTransformations[0]?.MetricValue,
        ]),
      ),
    ).toEqual(new Set([...expected, attempts]));
  });

  it("runs-waiting reads the longest wait from the line that a pass of the reaper logs", async () => {
    const filter = deployment
      .all<{ FilterPattern: string; MetricTransformations: { MetricName: string; MetricValue: string }[] }>(
        "AWS::Logs::MetricFilter",
      )
      .find(({ id }) => id.startsWith("LongestWait"));
    const [{ MetricName, MetricValue } = { MetricName: "", MetricValue: "" }] =
      filter?.Properties.MetricTransformations ?? [];
    expect(filter?.Properties.FilterPattern).toBe(`{ ${MetricValue} > 0 }`);
    const alarm = deployment
      .all<AlarmProperties & { MetricName: string; Threshold: number; Statistic: string }>("AWS::CloudWatch::Alarm")
      .find(({ Properties }) => Properties.AlarmName === "runyard-runs-waiting");
    expect(alarm?.Properties).toMatchObject({ MetricName, Statistic: "Maximum", Threshold: 300 });

    const plane = await createTestControlPlane();
    plane.capacity.maxExecutions = 1;
    const working = await workingRun(plane);
    await consume(plane, "runs", await createRun(plane, { prompt: "waits" }));
    const lines: string[] = [];
    setLogOutput((line) => void lines.push(line));
    try {
      for (let minute = 0; minute < 6; minute++) {
        plane.clock.now += 60_000;
        await working.beat();
        await reapUntilQuiet(5, { ...plane.ports, passes: { everySeconds: 10, sendPass: async () => undefined } });
      }
    } finally {
      setLogOutput((line) => void process.stdout.write(line));
    }
    const values = lines.map((line) => JSON.parse(line)[MetricValue.slice("$.".length)]);
    expect(values).toEqual([60, 120, 180, 240, 300, 360]);
  });

  it("leases-extended counts the log lines of passes in which the reaper's circuit is open", async () => {
    const filter = deployment
      .all<{ FilterPattern: string }>("AWS::Logs::MetricFilter")
      .find(({ id }) => id.startsWith("CircuitOpenPasses"));
    const fields = [...(filter?.Properties.FilterPattern ?? "").matchAll(/\$\.(?:message\.)?(\w+) IS TRUE/g)];
    expect(fields).toHaveLength(2);
    const pass = await reap(await createTestControlPlane());
    for (const [, field = ""] of fields) expect(pass).toHaveProperty(field, false);
  });
});
