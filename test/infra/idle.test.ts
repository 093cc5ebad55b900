import { beforeAll, describe, expect, it } from "vitest";
import { type Synthesized, synthesize } from "./synthesize.ts";

let deployment: Synthesized;
beforeAll(() => {
  deployment = synthesize();
});
const named = (name: string) =>
  deployment
    .all<{ FunctionName: string; MemorySize: number }>("AWS::Lambda::Function")
    .find(({ Properties }) => Properties.FunctionName === name);

describe("what a deployment costs while it is idle", () => {
  it("contains three queues that Lambda polls, runs, ends and events, and the stream of the table, which costs nothing", () => {
    const all = deployment.all<{ EventSourceArn: { "Fn::GetAtt": [string] } }>("AWS::Lambda::EventSourceMapping");
    const mappings = all.filter(({ Properties }) => !("StartingPosition" in Properties));
    expect(all).toHaveLength(mappings.length + 1);
    const names = mappings.map(({ stack, Properties }) => {
      const [id] = Properties.EventSourceArn["Fn::GetAtt"];
      return deployment
        .all<{ QueueName: string }>("AWS::SQS::Queue")
        .find((one) => one.stack === stack && one.id === id);
    });
    expect(names.map((queue) => queue?.Properties.QueueName).toSorted()).toEqual([
      "runyard-ends",
      "runyard-events",
      "runyard-runs",
    ]);
  });

  it("contains no queue for timers of schedules, which invoke fire-schedule themselves", () => {
    const role = deployment
      .all<{ Description?: string; Policies: object[] }>("AWS::IAM::Role")
      .find(({ Properties }) => Properties.Description === "runyard-timers");
    expect(JSON.stringify(role?.Properties.Policies)).toMatch(/lambda:InvokeFunction.*:function:runyard-fire-schedule/);
    const variables = JSON.stringify(named("runyard-create-schedule"));
    expect(variables).toMatch(/"FIRE_SCHEDULE_ARN":.*:function:runyard-fire-schedule/);
    const [retries] = deployment
      .all("AWS::Lambda::EventInvokeConfig")
      .filter(({ id }) => id.startsWith("FireScheduleRetries"));
    expect(retries?.Properties).toMatchObject({ MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 600 });
  });

  it("contains three alarms more than the ten that are free of charge", () => {
    expect(deployment.all("AWS::CloudWatch::Alarm").length).toBeLessThanOrEqual(13);
  });

  it("moves the files of runs to Intelligent-Tiering, and deletes none of them", () => {
    interface Rule {
      readonly Prefix?: string;
      readonly ExpirationInDays?: number;
      readonly Transitions?: object[];
    }
    const buckets = deployment.all<{ LifecycleConfiguration?: { Rules: Rule[] } }>("AWS::S3::Bucket");
    const rules = buckets.flatMap(({ Properties }) => Properties.LifecycleConfiguration?.Rules ?? []);
    for (const prefix of ["runs/", "requests/"]) {
      const [rule, ...others] = rules.filter(({ Prefix }) => Prefix === prefix);
      expect(others).toEqual([]);
      expect(rule?.Transitions).toEqual([{ StorageClass: "INTELLIGENT_TIERING", TransitionInDays: 30 }]);
      expect(rule).not.toHaveProperty("ExpirationInDays");
    }
  });
});

describe("the model gateway", () => {
  it("has 512 MB, and an alarm for calls that it refuses", () => {
    expect(named("runyard-call-model")?.Properties.MemorySize).toBe(512);
    const [alarm] = deployment
      .all<{ MetricName: string }>("AWS::CloudWatch::Alarm")
      .filter(({ Properties }) => Properties.MetricName === "Url4xxCount");
    expect(alarm?.Properties).toMatchObject({ AlarmName: "runyard-model-calls-refused", Threshold: 50 });
  });
});
