import type { AwsSandbox } from "#shared/wire/executions/sandboxes.ts";
import type { DeployedProvider } from "#shared/wire/providers/provider-settings.ts";
import type { ConcurrencyPlan } from "./concurrency.ts";

/** What a deployment may set, by CDK context (`-c name=value` or cdk.json). */
export interface Settings {
  /** `aws`, or `local` for the emulator, which omits what the emulator does not support. @default "aws" */
  readonly stage: "aws" | "local";
  // The context `prefix`, which begins all names and is "runyard" by default, and `logRetentionDays`, 30 by default, are read where
  // resources are named (names.ts).
  /** Address that callers use, ending in /api/v1. @default the domain name of `domain` or CloudFront, or the API's without CloudFront */
  readonly baseUrl?: string;
  /** Address of the web app. @default the domain name of `domain` or CloudFront, or the API's without CloudFront */
  readonly webUrl?: string;
  /** The domain name at which CloudFront serves the deployment, contexts `domainName` and `certificateArn`. @default CloudFront's own */
  readonly domain?: {
    /** A host name, whose DNS record leads to CloudFront. */
    readonly name: string;
    /** ARN of a certificate of AWS Certificate Manager in us-east-1 for that name. */
    readonly certificateArn: string;
  };
  /** Whether CloudFront serves the API and the web app. Without it, API Gateway serves both at its own address. @default true */
  readonly frontDoor: boolean;
  /** The name of the table that the data stack creates. @default the prefix */
  readonly tableName: string;
  /** An existing table to use instead of a new one, such as a restored table or that of an earlier installation. @default none */
  readonly existingTable?: string;
  /** ARN of the stream of that table, with new images. Without it, webhooks cannot be created. @default none */
  readonly existingTableStream?: string;
  /** An existing bucket to use instead of a new one, such as that of an earlier installation. @default none */
  readonly existingBucket?: string;
  /** Whether to add alarms on individual AWS services, which cost $0.10 a month each. @default false */
  readonly detailedAlarms: boolean;
  /** Email address for alarm notifications. @default alarms only show in the console */
  readonly alarmEmail?: string;
  /** Runs that are dispatched at the same time, 2 to 1,000; fewer in accounts with fewer than 1,000 concurrent executions. @default 50 */
  readonly dispatchConcurrency: number;
  /**
   * Concurrent executions of runs in the whole deployment; further runs stay QUEUED. The sandbox function reserves as many.
   * @default three tenths of the account's concurrent executions, without a reservation
   */
  readonly sandboxConcurrency?: number;
  /**
   * Whether Lambda's tenant isolation gives each execution its own execution environment. Accounts without that feature
   * set this to false: the sandbox's process then exits after each execution, so that no process of it remains. @default true
   */
  readonly sandboxTenancy: boolean;
  /** Memory of a sandbox that is a function, in MB, 512 to 10,240. @default 2048 */
  readonly sandboxMemoryMb?: number;
  /** Disk of a sandbox that is a function, in MB, 512 to 10,240. @default 4096 */
  readonly sandboxDiskMb?: number;
  /** Seconds that the function of a sandbox may take, 10 to 900; a longer run continues in the next one. @default 900 */
  readonly sandboxSeconds?: number;
  /**
   * Kinds of sandboxes that runs get, the usual one first: `lambda`, `microvm`, `fargate`, with commas. MicroVMs take over runs that
   * a function's 15 minutes are too short for, or all where they are named first; containers run the environments that name an image
   * of their own, and bring a network with them. docs/sandboxes.md says what each costs. @default "lambda"
   */
  readonly sandboxes: readonly AwsSandbox[];
  /**
   * What the Lambda sandbox is made of: `image`, with git, Python and build tools, which is built while deploying, or `zip`, the plain
   * runtime of Node. @default "image" on AWS, "zip" on the emulator, which runs no images
   */
  readonly lambdaSandbox: "image" | "zip";
  /** Additional regions with MicroVMs, which this release does not list. @default none */
  readonly microvmRegions: readonly string[];
  /** Version of the AWS base image for MicroVMs; AWS retires old versions. @default "1" */
  readonly microvmBaseVersion: string;
  /**
   * Address of GitHub's REST API. Set another one only for a stand-in.
   * @default "https://api.github.com"
   */
  readonly githubApiUrl: string;
  /** Address of GitLab's REST API, which triggers call with a credential of their team. @default "https://gitlab.com/api/v4" */
  readonly gitlabApiUrl: string;
  /** Address of Slack's API, likewise. @default "https://slack.com/api" */
  readonly slackApiUrl: string;
  /**
   * Name of the Systems Manager parameter with this deployment's GitHub token. If it does not exist, only public repositories
   * are read, with 60 requests an hour. All callers see the skills that the token can read.
   * @default "/runyard/github-token"
   */
  readonly githubTokenParameter: string;
  /**
   * The GitHub App by which private repositories are read where it is installed, contexts `githubAppId`, `githubAppKeyParameter` and
   * `githubAppTeam`. An installation is used for the team that has claimed it only.
   * @default none
   */
  readonly githubApp?: {
    /** Its id or client id. */
    readonly id: string;
    /** Name of the parameter of Systems Manager that holds its private key. @default "/runyard/github-app-key" */
    readonly keyParameter: string;
    /**
     * Names of the parameters that hold its client secret, without which no installation can be claimed, and the secret of its webhook,
     * without which no event is accepted; contexts `githubAppClientSecretParameter` and `githubAppWebhookSecretParameter`.
     * @default "/runyard/github-app-client-secret" and "/runyard/github-app-webhook-secret"
     */
    readonly clientSecretParameter: string;
    readonly webhookSecretParameter: string;
    /** The uid of the team that uses the installations which no team has claimed. @default no team does */
    readonly team?: string;
  };
  /**
   * The account's quota "Concurrent executions" of Lambda. The number of executions follows from it, and reservations are checked
   * against it: 100 must stay unreserved.
   * @default looked up while synthesizing; where there are no credentials, unknown: nothing is reserved, and executions have no limit
   */
  readonly accountConcurrency?: number;
  /** Whether functions reserve concurrency, so that none can use up that of the others. The account needs a few hundred executions. @default false */
  readonly reserveConcurrency: boolean;
  /** How the deployment uses the account's concurrent executions, computed from the four settings. */
  readonly concurrency: ConcurrencyPlan;
  /** Runs that one caller may start within a minute. @default 3000 */
  readonly createsPerMinute?: number;
  /** Follow-ups that one caller may send within a minute. @default 3000 */
  readonly followupsPerMinute?: number;
  /** API keys that one caller may create within a minute. @default 120 */
  readonly keysPerMinute?: number;
  /** Events of one trigger that may start or continue runs within a minute. @default 600 */
  readonly triggerEventsPerMinute?: number;
  /** Events of one thread of a trigger that may do so within a minute. @default 30 */
  readonly threadEventsPerMinute?: number;
  /** Requests that the API accepts in a second. Behind CloudFront, those of harnesses do not count. @default 500 */
  readonly requestsPerSecond?: number;
  /** Requests that it accepts at once. @default 1000 */
  readonly requestBurst?: number;
  /** Requests of harnesses that the API accepts in a second, besides those of callers. Needs CloudFront. @default 1000 */
  readonly harnessRequestsPerSecond?: number;
  /** Requests of harnesses that it accepts at once. @default 2000 */
  readonly harnessRequestBurst?: number;
  /** ARN of a web ACL of AWS WAF with the scope CLOUDFRONT, which CloudFront applies. AWS bills it by the month. @default none */
  readonly webAclArn?: string;
  /** Whether the API refuses requests that do not come through CloudFront, such as those to its own endpoint. @default false */
  readonly closedApi: boolean;
  /**
   * Labels from which the secrets in CloudFront's requests are derived, the current one first. The others are accepted too, so that
   * the secret can be rotated. `initial` stands for the secret without a label. @default ["initial"]
   */
  readonly originSecretSalts: readonly string[];
  /** Event streams that are open at the same time: the concurrency that their function reserves. @default as `reserveConcurrency` says */
  readonly streamConcurrency?: number;
  /** Seconds within which the execution must begin after a self-hosted worker claims a run. @default 60 */
  readonly workerClaimSeconds?: number;
  /**
   * The OIDC issuer by which people sign in to the web app, contexts `oidcIssuer`, `oidcClientId` and `oidcClientSecretParameter`.
   * @default people sign in with keys and links only
   */
  readonly oidc?: {
    /** Address of the issuer, as in its tokens. */
    readonly issuer: string;
    readonly clientId: string;
    /** Name of the SSM parameter that holds the client's secret. @default none: the client is public */
    readonly clientSecretParameter?: string;
  };
  /**
   * ARN of the KMS key that encrypts the parameters with the keys of secrets. AWS bills it by the month.
   * @default the key that AWS keeps for parameters, free of charge
   */
  readonly secretsKey?: string;
  /**
   * Where traces of runs are sent, contexts `otlpEndpoint` and `otlpHeadersParameter`.
   * @default no traces
   */
  readonly tracing?: {
    /** Address of a collector that accepts OTLP over HTTP, without `/v1/traces`. */
    readonly endpoint: string;
    /** Name of the SSM parameter that holds the headers of its requests, as `name=value`, with commas. @default none are needed */
    readonly headersParameter?: string;
  };
  /** Name of the SSM parameter (or, see `namedParameter`, secret) that holds the API key of Anthropic. @default its models are not offered */
  readonly anthropicKeyParameter?: string;
  /** Name of the SSM parameter that holds the API key of OpenAI. @default its models are not offered */
  readonly openaiKeyParameter?: string;
  /** Whether models of Amazon Bedrock are offered, which the account itself pays for. @default false */
  readonly bedrock: boolean;
  /** A server that speaks the API of OpenAI, with the names of its models. @default none */
  readonly compatible?: {
    readonly baseUrl: string;
    readonly models: readonly string[];
    /** Name of the SSM parameter that holds its API key. @default none: it requires no key */
    readonly keyParameter?: string;
  };
  /** Named model providers, context `modelProviders`: a list like that of `runyard.json`, with keys in SSM parameters. @default none */
  readonly modelProviders: readonly DeployedProvider[];
  /** Prices of models, each `id=input/output` in US dollars per million tokens. @default those of the catalogue */
  readonly modelPrices: readonly string[];
  /** Limits of models, each `id=context/output` in tokens. @default those that the servers report */
  readonly modelLimits: readonly string[];
  /** Seconds that the compatible server may take until a response begins or continues. @default 780 */
  readonly compatibleTimeoutSeconds?: number;
  /** Ids of disabled models. @default none */
  readonly disabledModels: readonly string[];
}
