import { type App, Validations } from "aws-cdk-lib";
import { readPrefix, toStackName } from "./names.ts";
import { FILE_PATTERNS } from "./rights.ts";

/** Findings of cdk-nag that we looked at and keep, on the constructs whose path matches, and why. */
export interface Acknowledgement {
  readonly rules: readonly string[];
  readonly paths: RegExp;
  readonly reason: string;
}

/** The rules that cdk-nag finds for rights on kinds of files, with the bucket as it is named in the stacks that import it. */
const bucketRules = Object.values(FILE_PATTERNS).map(
  (pattern) => `AwsSolutions-IAM5[Resource::Runyard-Data:ExportsOutputFnGetAttBucket83908E77Arn063C8555/${pattern}]`,
);

export const acknowledgements: readonly Acknowledgement[] = [
  {
    rules: ["AwsSolutions-APIG4"],
    paths: /^Runyard-(Routes-[^/]+\/[^/]+\/(Api|Other)?Route\d?|Api\/Web\/Route\d?)$/,
    reason:
      "Each function checks the credential itself, on the table, at each request: an authorizer of API Gateway's would either cache its answer, and let a deleted key in, or double the reads. A test walks every route without a key and with another team's.",
  },
  {
    rules: ["AwsSolutions-APIG4"],
    paths: /^Runyard-Execution\/(ConnectWorker|DisconnectWorker|ReceiveFrame)Route$/,
    reason:
      "The function of $connect checks the credential itself, on the table. Only accepted connections reach the other two routes, and each frame checks again that the key of its connection is valid.",
  },
  {
    rules: ["POST", "DELETE"].map(
      (method) =>
        `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<WorkerSocketApi72DD7468>/workers/${method}/@connections/*]`,
    ),
    paths: /^Runyard-Execution\/(DispatchRun|EndRun|ReceiveFrame)\/Role\/Resource$/,
    reason:
      "A connection is called after what API Gateway chooses when it is opened, so it is named by the one API that workers connect to.",
  },
  {
    rules: ["AwsSolutions-APIG1"],
    paths: /^Runyard-Execution\/WorkerSocket\/Stage\/Resource$/,
    reason:
      "Access logs of a WebSocket API need a role that is set for the whole account, which other services share. The functions log each connection and each frame.",
  },
  {
    rules: ["AwsSolutions-IAM5[Resource::*]"],
    paths: /^Runyard-(Api|Execution|Routes-[^/]+)\/(?!RunSandbox)[^/]+\/Role\/Resource$/,
    reason:
      "X-Ray's two writing actions take no resource. No other statement of a role has this wildcard, which a test of ours asserts.",
  },
  {
    rules: bucketRules,
    paths: /^Runyard-(Api|Execution|Routes-[^/]+)\/(?!RunSandbox)([^/]+|Webhooks\/Attempt)\/Role\/Resource$/,
    reason:
      "Objects are named after the run and execution that they belong to, so no role can list them. The actions on them are those of the function's line in routes.ts or eventSources.ts.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/runyard/*]",
    ],
    paths: /^Runyard-(Api|Execution|Routes-[^/]+)\/(?!RunSandbox)[^/]+\/Role\/Resource$/,
    reason:
      "A timer is called after its schedule, which callers make, so it is named by the group that all of ours are in and nothing else is.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/runyard/secrets/*]",
    ],
    paths: /^Runyard-(Routes-(Harness|Secrets|Teams)\/[^/]+|Execution\/(CallSystems|ModelGateway))\/Role\/Resource$/,
    reason:
      "A parameter is called after its team and its secret, which callers make, so it is named by the path that all of ours are under and nothing else is.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/runyard/webhook-secrets/*]",
    ],
    paths: /^Runyard-(Routes-(Webhooks|Triggers|Teams)\/[^/]+|Execution\/Webhooks\/Send)\/Role\/Resource$/,
    reason:
      "A parameter is called after its team and its webhook, which callers make, so it is named by the path that all of ours are under and nothing else is.",
  },
  {
    rules: ["AwsSolutions-IAM5[Resource::Runyard-Data:ExportsOutputFnGetAttTableCD117FA1ArnE2C8C204/stream/*]"],
    paths: /^Runyard-Execution\/Webhooks\/Plan\/Role\/Resource$/,
    reason:
      "Lambda lists the streams of the table before it reads the one of the event source mapping. The other rights are on that one.",
  },
  {
    rules: ["AwsSolutions-IAM5[Resource::*]"],
    paths: /^Runyard-Execution\/Webhooks\/(Send|Attempt)\/Role\/Resource$/,
    reason: "X-Ray's two writing actions take no resource.",
  },
  {
    rules: ["AwsSolutions-SQS3"],
    paths: /^Runyard-Execution\/Webhooks\/Dead\/Resource$/,
    reason: "It is the dead-letter queue of the stream of the table, which is no queue.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:<AWS::Region>:<AWS::AccountId>:inference-profile/global.anthropic.*]",
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/anthropic.*]",
    ],
    paths: /^Runyard-Execution\/ModelGateway\/Role\/Resource$/,
    reason:
      "The gateway calls the models of one maker, which come and go, in whatever region a global profile leads to. Where Bedrock is not switched on, it has no right on any.",
  },
  {
    rules: ["AwsSolutions-IAM5[Resource::*]"],
    paths: /^Runyard-Execution\/(SandboxImage\/BuildRole|FargateTasks\/ExecutionRole)\/Resource$/,
    reason:
      "The token for the registry takes no resource. What it is good for is said by the statement beside it, for the one repository.",
  },
  {
    rules: ["AwsSolutions-CB4"],
    paths: /^Runyard-Execution\/SandboxImage\/Build\/Resource$/,
    reason:
      "A key of one's own is billed by the month. The build has no artifact but the image, which ECR encrypts, and its source is public.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task-definition/runyard-*:*]",
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/runyard/*]",
    ],
    paths: /^Runyard-Execution\/(DispatchRun|EndRun)\/Role\/Resource$/,
    reason:
      "Definitions are called after what is in them, and tasks are named by ECS: both are bounded by what ours are called, or by our cluster.",
  },
  {
    rules: ["AwsSolutions-ECS4"],
    paths: /^Runyard-Execution\/FargateTasks\/Cluster$/,
    reason:
      "Container Insights are billed by the metric. What a run did is in its timeline, and how long it took in its run_time.",
  },
  {
    rules: ["AwsSolutions-VPC7"],
    paths: /^Runyard-Execution\/FargateTasks\/Network\/Resource$/,
    reason:
      "Flow logs are billed by what they hold, and tell of connections that agents are free to make. Nothing is listened to in this network.",
  },
  {
    rules: ["AwsSolutions-DDB3"],
    paths: /^Runyard-Data\/LiveTable\/Resource$/,
    reason:
      "Live output expires within minutes, and what becomes of it is in the messages of the run, which are backed up.",
  },
  {
    rules: ["AwsSolutions-S1"],
    paths: /^Runyard-Api\/FrontDoor\/Web\/Resource$/,
    reason: "It holds the published web app and nothing else, and CloudFront alone may read it.",
  },
  {
    rules: ["AwsSolutions-CFR1"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason: "The operator decides where users are; there is no country to block.",
  },
  {
    rules: ["AwsSolutions-CFR2"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason:
      "A web ACL is billed by the month even when nobody calls, and this deployment shall cost nothing while idle. The API has stage throttling and limits per principal.",
  },
  {
    rules: ["AwsSolutions-CFR3"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason:
      "Every call that reaches data is in the API's access log. What is left are fetches of the public web app, and logs of those need a bucket with ACLs.",
  },
  {
    rules: ["AwsSolutions-CFR4"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason:
      "CloudFront's own domain name has a fixed policy. A newer minimum needs a domain and a certificate, which only the account's owner can bring.",
  },
  {
    rules: [
      "AwsSolutions-L1",
      "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]",
      "AwsSolutions-IAM5[Action::s3:GetBucket*]",
      "AwsSolutions-IAM5[Action::s3:GetObject*]",
      "AwsSolutions-IAM5[Action::s3:List*]",
      "AwsSolutions-IAM5[Action::s3:Abort*]",
      "AwsSolutions-IAM5[Action::s3:DeleteObject*]",
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*]",
      "AwsSolutions-IAM5[Resource::<FrontDoorWeb7BFF36C3.Arn>/*]",
      "AwsSolutions-IAM5[Resource::*]",
    ],
    paths: /^Runyard-Api\/Custom::CDKBucketDeployment[^/]+\/(.+\/)?Resource$/,
    reason:
      "CDK's own function, which copies the web app into its bucket during a deployment and at no other time; its runtime and rights are CDK's to choose.",
  },
];

/** Writes the acknowledgements onto the constructs they are about. `existingBucket` takes the place of the bucket of the data stack. */
export function acknowledge(app: App, existingBucket?: string): void {
  const prefix = readPrefix(app);
  // Findings name resources as the templates do, and constructs have the same paths with any prefix.
  const withPrefix = (rule: string) =>
    rule.replace("/runyard/", `/${prefix}/`).replace("Runyard-Data:", `${toStackName(prefix, "Data")}:`);
  const constructs = app.node.findAll();
  const ofExisting = Object.values(FILE_PATTERNS).map(
    (pattern) => `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${existingBucket}/${pattern}]`,
  );
  for (const { rules: all, paths, reason } of acknowledgements) {
    const rules = all === bucketRules && existingBucket !== undefined ? ofExisting : all;
    for (const construct of constructs.filter(({ node }) => paths.test(node.path))) {
      Validations.of(construct).acknowledge(...rules.map((rule) => ({ id: withPrefix(rule), reason })));
    }
  }
}
