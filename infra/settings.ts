import type { Node } from "constructs";

/** What a deployment may set, by CDK context (`-c name=value` or cdk.json). */
export interface Settings {
  /** `aws`, or `local` for the emulator, which leaves out what that one cannot do. @default "aws" */
  readonly stage: "aws" | "local";
  /** Address that callers use, ending in /api/v1. @default the front door's own domain, or the API's where there is none */
  readonly baseUrl?: string;
  /** Address of the web app. @default the front door's own domain */
  readonly webUrl?: string;
  /** The table's name: a restore makes a new table. @default "runyard" */
  readonly tableName: string;
  /** Address that alarms are mailed to. @default alarms only show in the console */
  readonly alarmEmail?: string;
  /** Runs that are being dispatched at the same time, 2 to 1,000. @default 50 */
  readonly dispatchConcurrency: number;
  /**
   * Sandboxes that run at the same time. Left open by default: a new account has as few as 10 concurrent executions, and
   * reserving any while fewer than 100 would be left to the rest fails the deployment. Set it once the account's quota is raised.
   * @default no reservation
   */
  readonly sandboxConcurrency?: number;
  /** Seconds that the function of a sandbox may take, 10 to 900; a run that takes longer goes on in the next one. @default 900 */
  readonly sandboxSeconds?: number;
  /**
   * Kinds of sandboxes that runs get, the usual one first: `lambda`, `microvm`, `fargate`, with commas. MicroVMs take over runs that
   * a function's 15 minutes are too short for, or all where they are named first; containers run the environments that name an image
   * of their own, and bring a network with them. docs/sandboxes.md says what each costs. @default "lambda"
   */
  readonly sandboxes: readonly SandboxKind[];
  /**
   * What the Lambda sandbox is made of: `image`, with git, Python and build tools, which is built while deploying, or `zip`, the plain
   * runtime of Node. @default "image" on AWS, "zip" on the emulator, which runs no images
   */
  readonly lambdaSandbox: "image" | "zip";
  /** Regions with MicroVMs that this release does not know of yet. @default none */
  readonly microvmRegions: readonly string[];
  /** Version of the base image of AWS's that MicroVMs are built upon; its versions end some day. @default "1" */
  readonly microvmBaseVersion: string;
  /**
   * Address of GitHub's REST API; another one only where something stands in for it.
   * @default "https://api.github.com"
   */
  readonly githubApiUrl: string;
  /**
   * Name of the parameter of Systems Manager that holds this deployment's own token for GitHub. It need not be there: then
   * public repositories are read, 60 requests an hour. All who may call see the skills that the token may read.
   * @default "/runyard/github-token"
   */
  readonly githubTokenParameter: string;
  /**
   * The GitHub App by which private repositories are read where it is installed, contexts `githubAppId` and
   * `githubAppKeyParameter`. All who may call see the skills of all repositories that it is installed for, and their runs can clone them.
   * @default none
   */
  readonly githubApp?: {
    /** Its id or client id. */
    readonly id: string;
    /** Name of the parameter of Systems Manager that holds its private key. @default "/runyard/github-app-key" */
    readonly keyParameter: string;
  };
  /** Whether `reserved` of routes.ts takes effect; off by default for the same reason. @default false */
  readonly reserveConcurrency: boolean;
  /** Runs that one caller may start within a minute. @default 3000 */
  readonly createsPerMinute?: number;
  /** Follow-ups that one caller may send within a minute. @default 3000 */
  readonly followupsPerMinute?: number;
  /** API keys that one caller may make within a minute. @default 120 */
  readonly keysPerMinute?: number;
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
    /** Name of the SSM parameter that holds the key for it. @default it wants none */
    readonly keyParameter?: string;
  };
  /** Prices that the deployment gives itself, each `id=input/output` in US dollars a million tokens. @default those of the catalogue */
  readonly modelPrices: readonly string[];
  /** Ids of models that nobody may use here. @default none */
  readonly disabledModels: readonly string[];
}

const SANDBOX_KINDS = ["lambda", "microvm", "fargate"] as const;
type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** Reads the settings of a deployment from the app's context, and refuses values that would fail later and less clearly. */
export function readSettings(node: Node): Settings {
  const text = (name: string) => {
    const value: unknown = node.tryGetContext(name);
    return value === undefined || value === "" ? undefined : String(value);
  };
  const count = (name: string, least: number, most: number) => {
    const value = text(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new Error(`context "${name}" must be a whole number from ${least} to ${most}, not "${value}"`);
  };
  const stage = text("stage") ?? "aws";
  if (stage !== "aws" && stage !== "local") throw new Error(`context "stage" must be aws or local, not "${stage}"`);
  const baseUrl = text("baseUrl");
  if (baseUrl !== undefined && !/^https?:\/\/[^/]+(\/.*)?\/api\/v1$/.test(baseUrl)) {
    throw new Error(`context "baseUrl" must be an address that ends in /api/v1, not "${baseUrl}"`);
  }
  const webUrl = text("webUrl");
  const alarmEmail = text("alarmEmail");
  const sandboxConcurrency = count("sandboxConcurrency", 1, 100_000);
  const sandboxSeconds = count("sandboxSeconds", 10, 900);
  const list = (name: string) => (text(name) ?? "").split(",").filter((part) => part !== "");
  const parameter = (name: string) => {
    const value = text(name);
    if (value === undefined || /^(\/[\w.-]+)+$/.test(value)) return value;
    throw new Error(
      `context "${name}" must be the name of an SSM parameter, such as /a/b or /aws/reference/secretsmanager/a, not "${value}"`,
    );
  };
  const anthropicKeyParameter = parameter("anthropicKeyParameter");
  const openaiKeyParameter = parameter("openaiKeyParameter");
  const compatible = compatibleServer(
    text("compatibleBaseUrl"),
    list("compatibleModels"),
    parameter("compatibleKeyParameter"),
  );
  const modelPrices = list("modelPrices");
  const odd = modelPrices.find((price) => !/^[^=]+=\d+(\.\d+)?\/\d+(\.\d+)?$/.test(price));
  if (odd !== undefined) throw new Error(`context "modelPrices" must be a list of id=input/output, not "${odd}"`);
  const createsPerMinute = count("createsPerMinute", 1, 1_000_000);
  const followupsPerMinute = count("followupsPerMinute", 1, 1_000_000);
  const keysPerMinute = count("keysPerMinute", 1, 1_000_000);
  const githubApiUrl = text("githubApiUrl") ?? "https://api.github.com";
  if (!/^https?:\/\/[^/?#]+(\/[^?#]*[^/?#])?$/.test(githubApiUrl)) {
    throw new Error(`context "githubApiUrl" must be an address without a slash at its end, not "${githubApiUrl}"`);
  }
  const githubTokenParameter = parameter("githubTokenParameter") ?? "/runyard/github-token";
  const githubApp = appOnGithub(text("githubAppId"), parameter("githubAppKeyParameter"));
  return {
    stage,
    ...sandboxSettings(stage, { kinds: list("sandboxes"), lambda: text("lambdaSandbox") }),
    microvmRegions: list("microvmRegions"),
    microvmBaseVersion: text("microvmBaseVersion") ?? "1",
    githubApiUrl,
    githubTokenParameter,
    tableName: text("tableName") ?? "runyard",
    dispatchConcurrency: count("dispatchConcurrency", 2, 1000) ?? 50,
    reserveConcurrency: text("reserveConcurrency") === "true",
    bedrock: text("bedrock") === "true",
    disabledModels: list("disabledModels"),
    modelPrices,
    ...(githubApp !== undefined && { githubApp }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(webUrl !== undefined && { webUrl: webUrl.replace(/\/$/, "") }),
    ...(alarmEmail !== undefined && { alarmEmail }),
    ...(sandboxConcurrency !== undefined && { sandboxConcurrency }),
    ...(sandboxSeconds !== undefined && { sandboxSeconds }),
    ...(createsPerMinute !== undefined && { createsPerMinute }),
    ...(followupsPerMinute !== undefined && { followupsPerMinute }),
    ...(keysPerMinute !== undefined && { keysPerMinute }),
    ...(anthropicKeyParameter !== undefined && { anthropicKeyParameter }),
    ...(openaiKeyParameter !== undefined && { openaiKeyParameter }),
    ...(compatible !== undefined && { compatible }),
  };
}

function appOnGithub(id: string | undefined, keyParameter: string | undefined): Settings["githubApp"] {
  if (id === undefined && keyParameter === undefined) return undefined;
  if (id === undefined || !/^[\w.]{1,64}$/.test(id)) {
    throw new Error('context "githubAppId" must be the id or client id of a GitHub App');
  }
  return { id, keyParameter: keyParameter ?? "/runyard/github-app-key" };
}

function compatibleServer(
  baseUrl: string | undefined,
  models: readonly string[],
  keyParameter: string | undefined,
): Settings["compatible"] {
  if (baseUrl === undefined && models.length === 0) return undefined;
  if (baseUrl === undefined || !/^https?:\/\/\S+$/.test(baseUrl)) {
    throw new Error('context "compatibleBaseUrl" must be the address of the server that has the "compatibleModels"');
  }
  if (models.length === 0) throw new Error('context "compatibleModels" must name the models of "compatibleBaseUrl"');
  return { baseUrl, models, ...(keyParameter !== undefined && { keyParameter }) };
}

function sandboxSettings(
  stage: Settings["stage"],
  { kinds, lambda }: { readonly kinds: readonly string[]; readonly lambda: string | undefined },
): Pick<Settings, "sandboxes" | "lambdaSandbox"> {
  const sandboxes = kinds.flatMap((kind) => SANDBOX_KINDS.filter((known) => known === kind));
  if (sandboxes.length < kinds.length || new Set(kinds).size < kinds.length) {
    throw new Error(`context "sandboxes" must name some of ${SANDBOX_KINDS.join(", ")}, each once, not "${kinds}"`);
  }
  const lambdaSandbox = lambda ?? (stage === "aws" ? "image" : "zip");
  if (lambdaSandbox !== "image" && lambdaSandbox !== "zip") {
    throw new Error(`context "lambdaSandbox" must be image or zip, not "${lambda}"`);
  }
  if (stage === "local" && (lambdaSandbox === "image" || sandboxes.some((kind) => kind !== "lambda"))) {
    throw new Error('context "sandboxes" and "lambdaSandbox": an emulator runs functions of a zip alone');
  }
  return { sandboxes: sandboxes.length === 0 ? ["lambda"] : sandboxes, lambdaSandbox };
}
