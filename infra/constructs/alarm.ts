import {
  Alarm as CloudWatchAlarm,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { toName } from "../names.ts";

export interface AlarmProps {
  /** Alarm's name after `runyard-`; docs/runbook.md has a heading of this name. */
  readonly name: string;
  /** One sentence on what users notice while the alarm is active. */
  readonly impact: string;
  /** What is watched, with its statistic and period. */
  readonly metric: IMetric;
  /** The threshold: the alarm is active from this value on, or below it if `alarmWhenBelow`. @default 1 */
  readonly threshold?: number;
  /** Periods in a row that must be past the threshold. @default 1 */
  readonly periods?: number;
  /** Whether the alarm is active below the threshold. Missing data then counts as below it. @default false */
  readonly alarmWhenBelow?: boolean;
  /** The topic that is notified. @default none: the alarm is visible in the console only */
  readonly topic?: ITopic | undefined;
}

/** An alarm that says what it means to users and where to read what to do. */
export class Alarm extends Construct {
  constructor(scope: Construct, id: string, props: AlarmProps) {
    super(scope, id);
    const alarmWhenBelow = props.alarmWhenBelow ?? false;
    const alarm = new CloudWatchAlarm(this, "Alarm", {
      alarmName: toName(this, props.name),
      alarmDescription: `${props.impact} What to do: docs/runbook.md#${props.name}`,
      metric: props.metric,
      threshold: props.threshold ?? 1,
      evaluationPeriods: props.periods ?? 1,
      comparisonOperator: alarmWhenBelow
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: alarmWhenBelow ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    if (props.topic) alarm.addAlarmAction(new SnsAction(props.topic));
  }
}
