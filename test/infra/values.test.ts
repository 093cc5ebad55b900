import { beforeAll, describe, expect, it } from "vitest";
import { type Resource, type Synthesized, synthesize } from "./synthesize.ts";

/**
 * Every value of the deployment that sets a duration, a size or an alarm threshold. Change a value here and in infra/, so that
 * none changes by mistake. A new resource needs a line here.
 */
const DEFAULT_FUNCTION = "512 MB, 10 s";
const FUNCTIONS: Readonly<Record<string, string>> = {
  "archive-runs": "512 MB, 30 s",
  "attempt-deliveries": "256 MB, 80 s",
  "build-sandbox-image": "undefined MB, 30 s",
  "call-model": "512 MB, 900 s",
  "cancel-runs": "512 MB, 30 s",
  "claim-installation": "512 MB, 30 s",
  "create-run": "512 MB, 30 s",
  "create-token": "512 MB, 20 s",
  "delete-identity": "512 MB, 30 s",
  "delete-old-runs": "256 MB, 900 s",
  "delete-run": "512 MB, 30 s",
  "delete-runs": "512 MB, 30 s",
  "delete-team": "512 MB, 30 s",
  "decide-events": "512 MB, 30 s",
  "discover-skills": "512 MB, 28 s",
  "dispatch-run": "512 MB, 30 s",
  "end-run": "1024 MB, 60 s",
  "exchange-code": "512 MB, 20 s",
  "fire-schedule": "512 MB, 30 s",
  "get-sign-in-methods": "512 MB, 20 s",
  "get-usage": "512 MB, 30 s",
  "list-agents": "1024 MB, 30 s",
  "list-events": "512 MB, 30 s",
  "list-runs": "512 MB, 30 s",
  "list-schedules": "512 MB, 30 s",
  "plan-deliveries": "512 MB, 30 s",
  "push-branch": "512 MB, 30 s",
  "reap-runs": "256 MB, 90 s",
  "reconcile-schedules": "512 MB, 60 s",
  "resolve-prompt": "512 MB, 30 s",
  "run-sandbox-image": "2048 MB, 900 s, disk of 4096 MB",
  "send-message": "512 MB, 30 s",
  "send-webhooks": "256 MB, 35 s",
  "call-systems": "512 MB, 28 s",
  "stream-events": "512 MB, 900 s",
  "unarchive-runs": "512 MB, 30 s",
};

const FOURTEEN_DAYS = 14 * 24 * 3600;
const QUEUES: Readonly<Record<string, string>> = {
  ends: "keeps 1209600 s, hides 360 s, 5 attempts",
  "ends-dead": "keeps 1209600 s, hides 30 s",
  events: "keeps 1209600 s, hides 180 s, 5 attempts",
  "events-dead": "keeps 1209600 s, hides 30 s",
  runs: "keeps 1209600 s, hides 180 s, 1000 attempts",
  "runs-dead": "keeps 1209600 s, hides 540 s",
  "webhooks-dead": "keeps 1209600 s, hides undefined s",
};

/** Concurrent executions of each consumer. */
const CONSUMERS: Readonly<Record<string, number>> = {
  "decide-events": 20,
  "dispatch-run": 50,
  "end-run": 20,
};

/** What Lambda does with an event of an asynchronous invocation that failed, and with one that it throttles. */
const EVENTS: Readonly<Record<string, string>> = {
  "attempt-deliveries": "0 retries, 60 s",
  "decide-events": "0 retries, 60 s",
  "delete-old-runs": "0 retries, 300 s",
  "fire-schedule": "2 retries, 600 s",
  "plan-deliveries": "0 retries, 60 s",
  "reap-runs": "0 retries, 60 s",
  "reconcile-schedules": "0 retries, 60 s",
  "run-sandbox-image": "0 retries, 60 s",
};

/** By the bucket's id: days after which objects are deleted, by key prefix. */
const LIFECYCLES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Bucket: { "unfinished uploads": 1, "attachments/": 2, "events/": 30, "skills/": 30, "snapshots/": 30 },
  BucketLogs: { "unfinished uploads": 1, "all objects": 90 },
  FrontDoorWeb: { "unfinished uploads": 1 },
};

/** By alarm: its metric, and series of values, one for each period, for which it is OK and in alarm. */
const ALARMS: Readonly<Record<string, { watches: string; ok: Series[]; inAlarm: Series[] }>> = {
  "api-errors": { watches: "Sum of Runyard ApiErrors in 300 s", ok: [[4], [null]], inAlarm: [[5], [500]] },
  "ends-dead": deadLetters("Maximum of AWS/SQS ApproximateNumberOfMessagesVisible in 60 s"),
  "ends-waiting": {
    watches: "Maximum of Runyard EndsWait in 60 s",
    ok: [
      [299, 299, 299, 299, 299],
      [300, 300, 300, 300, null],
    ],
    inAlarm: [[300, 300, 300, 300, 300]],
  },
  "events-dead": deadLetters("Maximum of AWS/SQS ApproximateNumberOfMessagesVisible in 60 s"),
  "functions-throttled": { watches: "Sum of AWS/Lambda Throttles in 300 s", ok: [[9], [null]], inAlarm: [[10]] },
  "leases-extended": { watches: "Sum of Runyard CircuitOpenPasses in 300 s", ok: [[0], [null]], inAlarm: [[1]] },
  "model-calls-refused": { watches: "Sum of AWS/Lambda Url4xxCount in 300 s", ok: [[49], [null]], inAlarm: [[50]] },
  "reaper-silent": {
    watches: "Sum of AWS/Lambda Invocations in 60 s",
    ok: [
      [0, 0, 0, 0, 1],
      [2, 2, 2, 2, 2],
    ],
    inAlarm: [
      [0, 0, 0, 0, 0],
      [null, null, null, null, null],
    ],
  },
  "passes-failing": { watches: "Sum of Runyard FailedPasses in 300 s", ok: [[2], [null]], inAlarm: [[3]] },
  "runs-dead": deadLetters("Sum of AWS/SQS NumberOfMessagesReceived in 300 s"),
  "runs-waiting": {
    watches: "Maximum of Runyard LongestWait in 60 s",
    ok: [
      [299, 299, 299, 299, 299],
      [300, 300, 300, 300, 0],
    ],
    inAlarm: [[300, 300, 300, 300, 300]],
  },
  "webhooks-dead": deadLetters("Maximum of AWS/SQS ApproximateNumberOfMessagesVisible in 60 s"),
  "starts-failing": { watches: "Sum of Runyard FailedStarts in 300 s", ok: [[0], [null]], inAlarm: [[1]] },
};

type Series = readonly (number | null)[];

function deadLetters(watches: string) {
  const series = { ok: [[0], [null]], inAlarm: [[1]] };
  return { watches, ...series };
}

interface FunctionProperties {
  readonly FunctionName: string;
  readonly MemorySize?: number;
  readonly Timeout: number;
  readonly EphemeralStorage?: { Size: number };
}
interface EventsProperties {
  readonly FunctionName: { Ref: string };
  readonly MaximumRetryAttempts?: number;
  readonly MaximumEventAgeInSeconds?: number;
}
interface QueueProperties {
  readonly QueueName: string;
  readonly MessageRetentionPeriod: number;
  readonly VisibilityTimeout: number;
  readonly SqsManagedSseEnabled?: boolean;
  readonly RedrivePolicy?: { maxReceiveCount: number };
}
interface BucketProperties {
  readonly BucketEncryption?: {
    ServerSideEncryptionConfiguration: { ServerSideEncryptionByDefault: { SSEAlgorithm: string } }[];
  };
  readonly PublicAccessBlockConfiguration?: object;
  readonly OwnershipControls?: object;
  readonly LifecycleConfiguration: { Rules: LifecycleRule[] };
}
interface LifecycleRule {
  readonly Status: string;
  readonly Prefix?: string;
  readonly ExpirationInDays?: number;
  readonly AbortIncompleteMultipartUpload?: { DaysAfterInitiation: number };
}
interface PolicyProperties {
  readonly PolicyDocument: { Statement: { Effect: string; Action: unknown; Principal: unknown; Condition?: object }[] };
}
interface AlarmProperties {
  readonly AlarmName: string;
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly Period: number;
  readonly Statistic: string;
  readonly Namespace: string;
  readonly MetricName: string;
  readonly TreatMissingData: string;
}

let deployment: Synthesized;
beforeAll(() => {
  deployment = synthesize();
});

const named = (name: string) => name.replace(/^runyard-/, "");
/** The name of the function with this id in the template of a stack. */
const nameOf = (stack: string, id: string): string => {
  const functions = deployment.all<FunctionProperties>("AWS::Lambda::Function");
  return named(functions.find((one) => one.stack === stack && one.id === id)?.Properties.FunctionName ?? "");
};
const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}$/, "");

describe("functions", () => {
  it("have the intended memory, time-out and disk", () => {
    const values = deployment
      .all<FunctionProperties>("AWS::Lambda::Function")
      .map(({ Properties }): [string, string] => [named(Properties.FunctionName), describeFunction(Properties)]);
    expect(Object.fromEntries(values.filter(([, value]) => value !== DEFAULT_FUNCTION))).toEqual(FUNCTIONS);
    expect(values.length).toBeGreaterThan(Object.keys(FUNCTIONS).length);
  });

  it("that consume a queue have the intended concurrency", () => {
    const mappings = deployment.all<{ FunctionName: { Ref: string }; ScalingConfig?: { MaximumConcurrency: number } }>(
      "AWS::Lambda::EventSourceMapping",
    );
    const polled = mappings.filter(({ Properties }) => !("StartingPosition" in Properties));
    const values = polled.map(({ stack, Properties }) => {
      return [nameOf(stack, Properties.FunctionName.Ref), Properties.ScalingConfig?.MaximumConcurrency];
    });
    expect(Object.fromEntries(values)).toEqual(CONSUMERS);
  });

  it("that run on a schedule do so each minute, or each hour to delete old runs, without retries", () => {
    const rules = deployment.all<{ ScheduleExpression: string; State: string; Targets: object[] }>("AWS::Events::Rule");
    const noRetry = (seconds: number) => ({
      RetryPolicy: { MaximumEventAgeInSeconds: seconds, MaximumRetryAttempts: 0 },
    });
    expect(rules.map(({ Properties }) => Properties)).toMatchObject([
      { ScheduleExpression: "rate(1 minute)", State: "ENABLED", Targets: Array(4).fill(noRetry(60)) },
      { ScheduleExpression: "rate(1 hour)", State: "ENABLED", Targets: [noRetry(300)] },
    ]);
  });

  it("that are invoked asynchronously repeat and keep events as intended, since Lambda's default is three runs and six hours", () => {
    const configs = deployment.all<EventsProperties>("AWS::Lambda::EventInvokeConfig");
    const values = configs.map(({ stack, Properties }) => {
      const { FunctionName, MaximumRetryAttempts, MaximumEventAgeInSeconds } = Properties;
      return [nameOf(stack, FunctionName.Ref), `${MaximumRetryAttempts} retries, ${MaximumEventAgeInSeconds} s`];
    });
    expect(Object.fromEntries(values)).toEqual(EVENTS);
    const rules = deployment.all<{ Targets: { Arn: { "Fn::GetAtt": [string] } }[] }>("AWS::Events::Rule");
    const targets = rules.flatMap(({ stack, Properties }) =>
      Properties.Targets.map(({ Arn }) => nameOf(stack, Arn["Fn::GetAtt"][0])),
    );
    expect(Object.keys(EVENTS)).toEqual(expect.arrayContaining(targets));
  });

  it("log for 30 days", () => {
    const logs = deployment.all<{ RetentionInDays?: number }>("AWS::Logs::LogGroup");
    expect(logs.filter(({ Properties }) => Properties.RetentionInDays !== 30).map(({ id }) => id)).toEqual([]);
  });
});

describe("queues", () => {
  it("keep, hide and repeat messages for the intended times, and are encrypted", () => {
    const queues = deployment.all<QueueProperties>("AWS::SQS::Queue");
    const values = queues.map(({ Properties }) => [named(Properties.QueueName), describeQueue(Properties)]);
    expect(Object.fromEntries(values)).toEqual(QUEUES);
    for (const { Properties } of queues) {
      expect(Properties.MessageRetentionPeriod, "the longest that SQS keeps a message").toBe(FOURTEEN_DAYS);
      expect(Properties.SqsManagedSseEnabled, Properties.QueueName).toBe(true);
    }
  });
});

describe("buckets", () => {
  it("are encrypted, belong to their owner and are closed to the public", () => {
    for (const { id, Properties } of buckets()) {
      const rules = Properties.BucketEncryption?.ServerSideEncryptionConfiguration ?? [];
      expect(
        rules.map((rule) => rule.ServerSideEncryptionByDefault.SSEAlgorithm),
        id,
      ).toEqual(["AES256"]);
      expect(Properties.OwnershipControls, id).toEqual({ Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] });
      expect(Properties.PublicAccessBlockConfiguration, id).toEqual({
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      });
    }
  });

  it("delete objects after the intended days", () => {
    const values = buckets().map(({ id, Properties }): [string, object] => {
      const rules = Properties.LifecycleConfiguration.Rules;
      expect(new Set(rules.map(({ Status }) => Status)), id).toEqual(new Set(["Enabled"]));
      return [withoutHash(id), Object.fromEntries(rules.map(describeRule))];
    });
    expect(Object.fromEntries(values)).toEqual(LIFECYCLES);
  });

  it.each([
    ["AWS::S3::Bucket", "AWS::S3::BucketPolicy", "Bucket", "s3:*"],
    ["AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "Queues", "sqs:*"],
    ["AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "Topics", "sns:Publish"],
  ])("%s: every one rejects requests without TLS", (type, policyType, member, action) => {
    const refusing = deployment
      .all<PolicyProperties & Record<string, unknown>>(policyType)
      .filter(({ Properties }) =>
        Properties.PolicyDocument.Statement.some(
          ({ Effect, Action, Principal, Condition }) =>
            Effect === "Deny" &&
            Action === action &&
            (Principal === "*" || JSON.stringify(Principal) === '{"AWS":"*"}') &&
            JSON.stringify(Condition) === '{"Bool":{"aws:SecureTransport":"false"}}',
        ),
      )
      .flatMap(({ stack, Properties }) =>
        [Properties[member]].flat().map((target) => `${stack} ${JSON.stringify(target)}`),
      );
    const all = deployment.all(type).map(({ stack, id }) => `${stack} ${JSON.stringify({ Ref: id })}`);
    expect(all.length).toBeGreaterThan(0);
    expect(refusing.toSorted()).toEqual(all.toSorted());
  });
});

describe("tables", () => {
  it("are encrypted by DynamoDB, which a specification could only weaken or make cost, and expire their items", () => {
    const tables = deployment.all("AWS::DynamoDB::Table");
    expect(tables).toHaveLength(2);
    for (const { id, Properties } of tables) {
      expect(Properties, id).not.toHaveProperty("SSESpecification");
      expect(Properties, id).toMatchObject({ TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true } });
    }
  });
});

describe("alarms", () => {
  it("are those of the list", () => {
    const names = alarms().map(({ Properties }) => named(Properties.AlarmName));
    expect(names.toSorted()).toEqual(Object.keys(ALARMS).toSorted());
  });

  it.each(Object.entries(ALARMS))("%s goes off if its metric crosses the threshold, and only then", (name, alarm) => {
    const properties = alarms().find(({ Properties }) => named(Properties.AlarmName) === name)?.Properties;
    if (properties === undefined) throw new Error(`no alarm ${name}`);
    const { Statistic, Namespace, MetricName, Period } = properties;
    expect(`${Statistic} of ${Namespace} ${MetricName} in ${Period} s`).toBe(alarm.watches);
    for (const series of alarm.ok) expect(isInAlarm(properties, series), `[${series}]`).toBe(false);
    for (const series of alarm.inAlarm) expect(isInAlarm(properties, series), `[${series}]`).toBe(true);
  });
});

const alarms = () => deployment.all<AlarmProperties>("AWS::CloudWatch::Alarm");
const buckets = (): readonly Resource<BucketProperties>[] => deployment.all<BucketProperties>("AWS::S3::Bucket");

function describeFunction({ MemorySize, Timeout, EphemeralStorage }: FunctionProperties): string {
  const disk = EphemeralStorage === undefined ? "" : `, disk of ${EphemeralStorage.Size} MB`;
  return `${MemorySize} MB, ${Timeout} s${disk}`;
}

function describeQueue({ MessageRetentionPeriod, VisibilityTimeout, RedrivePolicy }: QueueProperties): string {
  const attempts = RedrivePolicy === undefined ? "" : `, ${RedrivePolicy.maxReceiveCount} attempts`;
  return `keeps ${MessageRetentionPeriod} s, hides ${VisibilityTimeout} s${attempts}`;
}

function describeRule(rule: LifecycleRule): [string, number | undefined] {
  if (rule.AbortIncompleteMultipartUpload !== undefined) {
    return ["unfinished uploads", rule.AbortIncompleteMultipartUpload.DaysAfterInitiation];
  }
  return [rule.Prefix ?? "all objects", rule.ExpirationInDays];
}

/** The state that CloudWatch derives from the latest values; null is a period without a value. */
function isInAlarm(alarm: AlarmProperties, series: Series): boolean {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold, TreatMissingData } = alarm;
  const latest = series.slice(-EvaluationPeriods);
  expect(latest, "as many values as it takes").toHaveLength(EvaluationPeriods);
  const breaching = latest.filter((value) => {
    if (value === null) return TreatMissingData === "breaching";
    if (alarm.ComparisonOperator === "GreaterThanOrEqualToThreshold") return value >= Threshold;
    if (alarm.ComparisonOperator === "LessThanThreshold") return value < Threshold;
    throw new Error(`${alarm.ComparisonOperator} is not supported`);
  });
  return breaching.length >= DatapointsToAlarm;
}
