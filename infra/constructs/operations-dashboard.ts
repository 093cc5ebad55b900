import { Duration } from "aws-cdk-lib";
import {
  Dashboard,
  GraphWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  Metric,
  Stats,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { toName, toNamespace } from "../names.ts";
import type { BaseFunction } from "./base-function.ts";

interface OperationsDashboardProps {
  readonly functions: {
    readonly dispatcher: BaseFunction;
    readonly reaper: BaseFunction;
    readonly ender: BaseFunction;
    readonly gateway: BaseFunction | undefined;
  };
}

/** One page with the four questions of operators. An account's first three dashboards are free. */
export class OperationsDashboard extends Construct {
  constructor(scope: Construct, id: string, { functions }: OperationsDashboardProps) {
    super(scope, id);
    const { dispatcher, reaper, ender, gateway } = functions;
    const own = (metricName: string, statistic: string = Stats.SUM) =>
      new Metric({ namespace: toNamespace(this), metricName, statistic, period: Duration.minutes(5) });
    const graph = (title: string, left: Metric[]) => new GraphWidget({ title, left, width: 12, height: 6 });
    const query = (title: string, one: BaseFunction, queryLines: string[]) =>
      new LogQueryWidget({
        title,
        queryLines,
        logGroupNames: [one.log.logGroupName],
        view: LogQueryVisualizationType.TABLE,
        width: 12,
        height: 6,
      });
    const question = (markdown: string) => new TextWidget({ markdown, width: 24, height: 1 });
    const period = Duration.minutes(5);
    new Dashboard(this, "Dashboard", {
      dashboardName: toName(this, "operations"),
      widgets: [
        [question("## Do runs start?")],
        [
          graph("Longest wait in seconds, and starts that failed", [
            own("LongestWait", Stats.MAXIMUM),
            own("FailedStarts"),
          ]),
          graph("Dispatches, and those that Lambda throttled", [
            dispatcher.lambda.metricInvocations({ period }),
            dispatcher.lambda.metricThrottles({ period }),
          ]),
        ],
        [question("## Do they end well?")],
        [
          query("Ended runs by state", ender, [
            'filter message = "run counted"',
            "stats count(*) as runs, avg(run_seconds) as seconds by state",
          ]),
          graph("Ends that wait, in seconds, and passes that failed", [
            own("EndsWait", Stats.MAXIMUM),
            own("FailedPasses"),
          ]),
        ],
        [question("## What do they cost?")],
        [
          query("Models and time by owner", ender, [
            'filter message = "run counted"',
            "stats sum(cost) as dollars, sum(run_seconds) / 3600 as hours, count(*) as runs by owner_type, owner_uid",
            "sort dollars desc",
          ]),
          graph("Model calls", gateway === undefined ? [] : [gateway.lambda.metricInvocations({ period })]),
        ],
        [question("## Who waits?")],
        [
          query("Waits by pass of the reaper", reaper, [
            'filter message = "reaper pass" and waitedSeconds > 0',
            "stats max(waitedSeconds) as seconds by bin(5m)",
          ]),
          query("Runs that found no capacity", dispatcher, [
            'filter message = "run waits"',
            "stats count(*) by owner_uid",
          ]),
        ],
      ],
    });
  }
}
