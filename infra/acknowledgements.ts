import { type App, Validations } from "aws-cdk-lib";
import { readPrefix, toStackName } from "./names.ts";
import { FILE_PATTERNS } from "./rights.ts";

/** Findings of cdk-nag that we looked at and keep, on the constructs whose path matches, and why. */
export interface Acknowledgement {
  readonly rules: readonly string[];
  readonly paths: RegExp;
  readonly reason: string;
}

/** The IDs of cdk-nag's findings about rights on kinds of files; they name the bucket as the importing stacks do. */
const bucketRules = Object.values(FILE_PATTERNS).map(
  (pattern) => `AwsSolutions-IAM5[Resource::Runyard-Data:ExportsOutputFnGetAttBucket83908E77Arn063C8555/${pattern}]`,
);

/** The ID of cdk-nag's finding about the right to list the streams of the table, which names the table in the same way. */
const streamRules = [
  "AwsSolutions-IAM5[Resource::Runyard-Data:ExportsOutputFnGetAttTableCD117FA1ArnE2C8C204/stream/*]",
];

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
      "API Gateway chooses a connection's id when it opens, so the policy names the one API that workers connect to.",
  },
  {
    rules: ["AwsSolutions-APIG1"],
    paths: /^Runyard-Execution\/WorkerSocket\/Stage\/Resource$/,
    reason:
      "Access logs of a WebSocket API need an account-wide role, which other services share. The functions log each connection and each frame.",
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
      "Object keys contain the ids of runs and executions, so no policy can enumerate them. The allowed actions are those of the function's line in routes.ts or event-sources.ts.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/runyard/*]",
    ],
    paths: /^Runyard-(Api|Execution|Routes-[^/]+)\/(?!RunSandbox)[^/]+\/Role\/Resource$/,
    reason:
      "A timer's name contains the id of its schedule, which callers create. The policy names the schedule group, which contains only our timers.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/runyard/secrets/*]",
    ],
    paths: /^Runyard-(Routes-(Harness|Secrets|Teams)\/[^/]+|Execution\/(CallSystems|ModelGateway))\/Role\/Resource$/,
    reason:
      "A parameter's name contains its team and secret, which callers create. The policy names the path, which contains only these parameters.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/runyard/webhook-secrets/*]",
    ],
    paths: /^Runyard-(Routes-(Webhooks|Triggers|Teams)\/[^/]+|Execution\/Webhooks\/Send)\/Role\/Resource$/,
    reason:
      "A parameter's name contains its team and webhook, which callers create. The policy names the path, which contains only these parameters.",
  },
  {
    rules: streamRules,
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
    reason: "It is itself the dead-letter queue, of the table's stream.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:<AWS::Region>:<AWS::AccountId>:inference-profile/global.anthropic.*]",
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/anthropic.*]",
    ],
    paths: /^Runyard-Execution\/ModelGateway\/Role\/Resource$/,
    reason:
      "The gateway calls one provider's models, whose list changes, in any region that a global inference profile routes to. Without the setting for Bedrock, it may call none.",
  },
  {
    rules: ["AwsSolutions-IAM5[Resource::*]"],
    paths: /^Runyard-Execution\/(SandboxImage\/BuildRole|FargateTasks\/ExecutionRole)\/Resource$/,
    reason:
      "The action that gets the registry token takes no resource. The statement next to it limits what the token can do to the one repository.",
  },
  {
    rules: ["AwsSolutions-CB4"],
    paths: /^Runyard-Execution\/SandboxImage\/Build\/Resource$/,
    reason:
      "A customer-managed KMS key is billed monthly. The build's only artifact is the image, which ECR encrypts, and its source is public.",
  },
  {
    rules: [
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task-definition/runyard-*:*]",
      "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/runyard/*]",
    ],
    paths: /^Runyard-Execution\/(DispatchRun|EndRun)\/Role\/Resource$/,
    reason:
      "A task definition's name is a hash of its content, and ECS chooses the ids of tasks. The policy limits both to our name prefix or our cluster.",
  },
  {
    rules: ["AwsSolutions-ECS4"],
    paths: /^Runyard-Execution\/FargateTasks\/Cluster$/,
    reason:
      "Container Insights is billed per metric. A run's timeline shows what it did, and its run_time how long it took.",
  },
  {
    rules: ["AwsSolutions-VPC7"],
    paths: /^Runyard-Execution\/FargateTasks\/Network\/Resource$/,
    reason:
      "Flow logs are billed by volume and would only record connections that agents may make. Nothing in this network accepts connections.",
  },
  {
    rules: ["AwsSolutions-DDB3"],
    paths: /^Runyard-Data\/LiveTable\/Resource$/,
    reason: "Live output expires within minutes. The run's messages, which are backed up, contain its final form.",
  },
  {
    rules: ["AwsSolutions-S1"],
    paths: /^Runyard-Api\/FrontDoor\/Web\/Resource$/,
    reason: "It holds the published web app and nothing else, and CloudFront alone may read it.",
  },
  {
    rules: ["AwsSolutions-CFR1"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason: "Users may be in any country, so there is none to block.",
  },
  {
    rules: ["AwsSolutions-CFR2"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason:
      "A web ACL is billed monthly even without requests, and an idle deployment must cost nothing. The API has stage throttling and limits per principal.",
  },
  {
    rules: ["AwsSolutions-CFR3"],
    paths: /^Runyard-Api\/FrontDoor\/Distribution\/Resource$/,
    reason:
      "The API's access log has every request that reaches data. The other requests fetch the public web app, and logging those needs a bucket with ACLs.",
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
      "A function of the CDK, which copies the web app to its bucket during a deployment only. The CDK chooses its runtime and rights.",
  },
];

/** The table and the bucket that take the place of those of the data stack. */
interface ExistingData {
  readonly existingBucket?: string | undefined;
  readonly existingTable?: string | undefined;
}

/** Writes the acknowledgements onto the constructs they are about. */
export function acknowledge(app: App, { existingBucket, existingTable }: ExistingData = {}): void {
  const prefix = readPrefix(app);
  // Findings name resources as the templates do, and constructs have the same paths with any prefix.
  const withPrefix = (rule: string) =>
    rule.replace("/runyard/", `/${prefix}/`).replace("Runyard-Data:", `${toStackName(prefix, "Data")}:`);
  const constructs = app.node.findAll();
  const ofExisting = Object.values(FILE_PATTERNS).map(
    (pattern) => `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${existingBucket}/${pattern}]`,
  );
  const ofStream = [
    `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/${existingTable}/stream/*]`,
  ];
  const choose = (all: readonly string[]): readonly string[] => {
    if (all === bucketRules && existingBucket !== undefined) return ofExisting;
    return all === streamRules && existingTable !== undefined ? ofStream : all;
  };
  for (const { rules: all, paths, reason } of acknowledgements) {
    const rules = choose(all);
    for (const construct of constructs.filter(({ node }) => paths.test(node.path))) {
      Validations.of(construct).acknowledge(...rules.map((rule) => ({ id: withPrefix(rule), reason })));
    }
  }
}
