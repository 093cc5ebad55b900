import type { Node } from "constructs";
import { AWS_SANDBOXES } from "#shared/wire/executions/sandboxes.ts";
import { parseDeployedProviders, toConnection, toNamedProvider } from "#shared/wire/providers/provider-settings.ts";
import { planConcurrency } from "./concurrency.ts";
import { type ContextReader, contextReader } from "./context-reader.ts";
import { RETENTION_DAYS, readPrefix } from "./names.ts";
import type { Settings } from "./settings.ts";

/**
 * Reads the settings of a deployment from the app's context, and refuses values that would fail later and less clearly.
 * @param found values looked up in the account, for settings that the context does not have
 */
export function readSettings(node: Node, found: { readonly accountConcurrency?: number | undefined } = {}): Settings {
  const context = contextReader(node);
  const { text, count, flag, list, parameter, address } = context;
  const stage = text("stage") ?? "aws";
  if (stage !== "aws" && stage !== "local") throw new Error(`context "stage" must be aws or local, not "${stage}"`);
  const prefix = readPrefix({ node });
  throwIfNotPrefix(prefix);
  throwIfNotRetention(count("logRetentionDays", 1, 3_653));
  const webUrl = text("webUrl");
  const frontDoor = flag("frontDoor", true);
  const domain = ownDomain(text("domainName"), text("certificateArn"), stage === "aws" && frontDoor);
  const optional = { ...omitUndefined(found), ...readOptional(context) };
  const closedApi = flag("closedApi", false);
  if (stage !== "aws" || !frontDoor) throwIfForCloudFront(context);
  throwIfStreamsExceed(optional);
  const anthropicKeyParameter = parameter("anthropicKeyParameter");
  const openaiKeyParameter = parameter("openaiKeyParameter");
  const compatible = compatibleServer(
    text("compatibleBaseUrl"),
    list("compatibleModels"),
    parameter("compatibleKeyParameter"),
  );
  const oidc = signInIssuer(text("oidcIssuer"), text("oidcClientId"), parameter("oidcClientSecretParameter"));
  const tracing = readTracing(text("otlpEndpoint"), parameter("otlpHeadersParameter"));
  const githubTokenParameter = parameter("githubTokenParameter") ?? `/${prefix}/github-token`;
  const githubApp = appOnGithub(prefix, text("githubAppId"), text("githubAppTeam"), {
    keyParameter: parameter("githubAppKeyParameter"),
    clientSecretParameter: parameter("githubAppClientSecretParameter"),
    webhookSecretParameter: parameter("githubAppWebhookSecretParameter"),
  });
  const concurrency = {
    dispatchConcurrency: count("dispatchConcurrency", 2, 1000) ?? 50,
    reserveConcurrency: text("reserveConcurrency") === "true",
  };
  return {
    stage,
    ...sandboxSettings(stage, { kinds: list("sandboxes"), lambda: text("lambdaSandbox") }),
    microvmRegions: list("microvmRegions"),
    microvmBaseVersion: text("microvmBaseVersion") ?? "1",
    githubApiUrl: address("githubApiUrl", "https://api.github.com"),
    gitlabApiUrl: address("gitlabApiUrl", "https://gitlab.com/api/v4"),
    slackApiUrl: address("slackApiUrl", "https://slack.com/api"),
    githubTokenParameter,
    tableName: text("tableName") ?? prefix,
    frontDoor,
    closedApi,
    detailedAlarms: flag("detailedAlarms", false),
    originSecretSalts: readSalts(list("originSecretSalts")),
    sandboxTenancy: flag("sandboxTenancy", true),
    ...concurrency,
    concurrency: planConcurrency({ ...optional, ...concurrency }),
    bedrock: text("bedrock") === "true",
    disabledModels: list("disabledModels"),
    modelProviders: readModelProviders(node.tryGetContext("modelProviders")),
    ...modelNumbers(list("modelPrices"), list("modelLimits")),
    ...(githubApp !== undefined && { githubApp }),
    ...(domain !== undefined && { domain }),
    ...(webUrl !== undefined && { webUrl: webUrl.replace(/\/$/, "") }),
    ...optional,
    ...(anthropicKeyParameter !== undefined && { anthropicKeyParameter }),
    ...(openaiKeyParameter !== undefined && { openaiKeyParameter }),
    ...(compatible !== undefined && { compatible }),
    ...(oidc !== undefined && { oidc }),
    ...(tracing !== undefined && { tracing }),
  };
}

function throwIfNotPrefix(prefix: string): void {
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(prefix) && prefix.length <= 16) return;
  throw new Error(
    `context "prefix" must be at most 16 lowercase letters, digits and single hyphens, beginning with a letter, not "${prefix}"`,
  );
}

function throwIfNotRetention(days: number | undefined): void {
  if (days === undefined || RETENTION_DAYS.includes(days)) return;
  throw new Error(
    `context "logRetentionDays" must be one of ${RETENTION_DAYS.join(", ")}, which CloudWatch accepts, not "${days}"`,
  );
}

const FOR_CLOUDFRONT = [
  "closedApi",
  "webAclArn",
  "originSecretSalts",
  "harnessRequestsPerSecond",
  "harnessRequestBurst",
];

/** Refuses settings that a deployment without CloudFront would ignore. */
function throwIfForCloudFront({ text }: ContextReader): void {
  const name = FOR_CLOUDFRONT.find((one) => text(one) !== undefined && text(one) !== "false");
  if (name !== undefined)
    throw new Error(`context "${name}" needs CloudFront: leave out "frontDoor=false", or "${name}"`);
}

/** Bytes of the variables of a function that describe providers, of the 4 KB that all variables may have. */
const MAX_PROVIDER_BYTES = 1_400;

/** Reads the list of cdk.json, or that of a command line as JSON. */
function readModelProviders(value: unknown): Settings["modelProviders"] {
  if (value === undefined || value === "") return [];
  const parsed = parseDeployedProviders({ providers: typeof value === "string" ? parseList(value) : value });
  if ("problems" in parsed) {
    const problems = parsed.problems.map((problem) => problem.replace(/^providers/, "modelProviders"));
    throw new Error(`context "modelProviders" is not valid: ${problems.join("; ")}`);
  }
  const { providers } = parsed;
  const variables = [providers.map(toNamedProvider), providers.map(toConnection)];
  if (variables.some((variable) => Buffer.byteLength(JSON.stringify(variable)) > MAX_PROVIDER_BYTES))
    throw new Error('context "modelProviders" is too long for the variables of a function: list fewer models');
  return providers;
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('context "modelProviders" must be a list, in cdk.json or as JSON');
  }
}

/** The prices and limits of models. */
function modelNumbers(modelPrices: readonly string[], modelLimits: readonly string[]) {
  checkEach("modelPrices", modelPrices, /^[^=]+=\d+(\.\d+)?\/\d+(\.\d+)?$/, "id=input/output");
  checkEach("modelLimits", modelLimits, /^[^=]+=\d+(\/\d+)?$/, "id=context or id=context/output");
  return { modelPrices, modelLimits };
}

function checkEach(name: string, values: readonly string[], pattern: RegExp, shape: string): void {
  const odd = values.find((value) => !pattern.test(value));
  if (odd !== undefined) throw new Error(`context "${name}" must be a list of ${shape}, not "${odd}"`);
}

/** Reads the settings that are numbers or names and may be absent. */
function readOptional({ text, count }: ContextReader) {
  return omitUndefined({
    baseUrl: readBaseUrl(text("baseUrl")),
    secretsKey: readKmsKey(text("secretsKey")),
    alarmEmail: text("alarmEmail"),
    existingTable: text("existingTable"),
    existingTableStream: text("existingTableStream"),
    existingBucket: text("existingBucket"),
    accountConcurrency: count("accountConcurrency", 10, 1_000_000),
    sandboxConcurrency: count("sandboxConcurrency", 1, 100_000),
    sandboxSeconds: count("sandboxSeconds", 10, 900),
    sandboxMemoryMb: count("sandboxMemoryMb", 512, 10_240),
    sandboxDiskMb: count("sandboxDiskMb", 512, 10_240),
    createsPerMinute: count("createsPerMinute", 1, 1_000_000),
    followupsPerMinute: count("followupsPerMinute", 1, 1_000_000),
    keysPerMinute: count("keysPerMinute", 1, 1_000_000),
    triggerEventsPerMinute: count("triggerEventsPerMinute", 1, 1_000_000),
    threadEventsPerMinute: count("threadEventsPerMinute", 1, 1_000_000),
    requestsPerSecond: count("requestsPerSecond", 10, 100_000),
    requestBurst: count("requestBurst", 10, 100_000),
    harnessRequestsPerSecond: count("harnessRequestsPerSecond", 10, 100_000),
    harnessRequestBurst: count("harnessRequestBurst", 10, 100_000),
    streamConcurrency: count("streamConcurrency", 1, 100_000),
    webAclArn: readWebAcl(text("webAclArn")),
    workerClaimSeconds: count("workerClaimSeconds", 1, 3_600),
    compatibleTimeoutSeconds: count("compatibleTimeoutSeconds", 1, 800),
  });
}

function readBaseUrl(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined || /^https?:\/\/[^/]+(\/.*)?\/api\/v1$/.test(baseUrl)) return baseUrl;
  throw new Error(`context "baseUrl" must be an address that ends in /api/v1, not "${baseUrl}"`);
}

function readWebAcl(arn: string | undefined): string | undefined {
  if (arn === undefined || /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/.test(arn)) return arn;
  throw new Error(
    `context "webAclArn" must be the ARN of a web ACL with the scope CLOUDFRONT, such as arn:aws:wafv2:us-east-1:111122223333:global/webacl/…, not "${arn}"`,
  );
}

function readSalts(salts: readonly string[]): readonly string[] {
  if (salts.length > 3 || salts.some((salt) => !/^[A-Za-z0-9]{7,64}$/.test(salt))) {
    throw new Error(
      'context "originSecretSalts" must be at most three texts of 7 to 64 letters and digits, with commas',
    );
  }
  return salts.length === 0 ? ["initial"] : salts;
}

/** Lambda refuses a reservation that leaves fewer than 100 executions of the account. */
function throwIfStreamsExceed({
  streamConcurrency: streams,
  accountConcurrency: account,
  sandboxConcurrency: sandboxes = 0,
}: Pick<Settings, "streamConcurrency" | "accountConcurrency" | "sandboxConcurrency">): void {
  if (streams === undefined) return;
  if (account === undefined) {
    throw new Error('context "accountConcurrency" must be the account\'s quota where "streamConcurrency" is set');
  }
  const most = account - 100 - sandboxes;
  if (streams > most) {
    throw new Error(`context "streamConcurrency" must be at most ${Math.max(0, most)}: 100 executions stay unreserved`);
  }
}

/** A policy names a key by its ARN: an alias in its place would allow nothing. */
function readKmsKey(arn: string | undefined): string | undefined {
  if (arn === undefined || /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/.test(arn)) return arn;
  throw new Error(
    `context "secretsKey" must be the ARN of a KMS key, such as arn:aws:kms:eu-west-1:111122223333:key/…, not "${arn}"`,
  );
}

/** The names of hosts that DNS and certificates accept, without a wildcard. */
const HOST_NAME = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

function ownDomain(
  name: string | undefined,
  certificateArn: string | undefined,
  hasCloudFront: boolean,
): Settings["domain"] {
  if (name === undefined && certificateArn === undefined) return undefined;
  if (name === undefined) throw new Error('context "domainName" must name the host that "certificateArn" is for');
  if (!HOST_NAME.test(name)) {
    throw new Error(`context "domainName" must be a host name, such as agents.example.com, not "${name}"`);
  }
  if (certificateArn === undefined || !/^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/.test(certificateArn)) {
    const actual = certificateArn === undefined ? "" : `, not "${certificateArn}"`;
    throw new Error(
      `context "certificateArn" must be the ARN of a certificate for "domainName" in us-east-1, the one region that CloudFront takes certificates from${actual}: request one there with AWS Certificate Manager`,
    );
  }
  if (!hasCloudFront) {
    throw new Error(
      'context "domainName" needs CloudFront: leave out "frontDoor=false", or set "baseUrl" and "webUrl" only',
    );
  }
  return { name, certificateArn };
}

/** Leaves out the members that are undefined. */
function omitUndefined<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const values: { [K in keyof T]?: NonNullable<T[K]> } = {};
  for (const name in members) {
    const value = members[name];
    if (value !== undefined && value !== null) values[name] = value;
  }
  return values;
}

type AppParameters = Pick<
  NonNullable<Settings["githubApp"]>,
  "keyParameter" | "clientSecretParameter" | "webhookSecretParameter"
>;

function appOnGithub(
  prefix: string,
  id: string | undefined,
  team: string | undefined,
  parameters: { readonly [K in keyof AppParameters]: string | undefined },
): Settings["githubApp"] {
  if ([id, team, ...Object.values(parameters)].every((value) => value === undefined)) return undefined;
  if (id === undefined || !/^[\w.]{1,64}$/.test(id)) {
    throw new Error('context "githubAppId" must be the id or client id of a GitHub App');
  }
  if (team !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(team)) {
    throw new Error('context "githubAppTeam" must be the uid of a team');
  }
  const usual = {
    keyParameter: `/${prefix}/github-app-key`,
    clientSecretParameter: `/${prefix}/github-app-client-secret`,
    webhookSecretParameter: `/${prefix}/github-app-webhook-secret`,
  };
  return { id, ...usual, ...omitUndefined(parameters), ...(team !== undefined && { team }) };
}

function signInIssuer(
  issuer: string | undefined,
  clientId: string | undefined,
  clientSecretParameter: string | undefined,
): Settings["oidc"] {
  if (issuer === undefined && clientId === undefined && clientSecretParameter === undefined) return undefined;
  if (issuer === undefined || !/^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(issuer)) {
    throw new Error('context "oidcIssuer" must be the https address of an OpenID Connect issuer, as in its tokens');
  }
  if (clientId === undefined) throw new Error('context "oidcClientId" must name the client at "oidcIssuer"');
  return { issuer, clientId, ...(clientSecretParameter !== undefined && { clientSecretParameter }) };
}

function readTracing(endpoint: string | undefined, headersParameter: string | undefined): Settings["tracing"] {
  if (endpoint === undefined && headersParameter === undefined) return undefined;
  const url = endpoint === undefined ? null : URL.parse(endpoint);
  const isAddress = url?.protocol === "https:" || url?.protocol === "http:";
  if (endpoint === undefined || !isAddress || url.username !== "" || url.password !== "") {
    throw new Error(
      'context "otlpEndpoint" must be the address of a collector, without credentials: store those as headers, and name the parameter in "otlpHeadersParameter"',
    );
  }
  return { endpoint, ...(headersParameter !== undefined && { headersParameter }) };
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
  // The address is in the template, in logs and in errors, where a credential in it would be readable.
  const url = URL.parse(baseUrl);
  if (url === null || url.username !== "" || url.password !== "") {
    throw new Error(
      'context "compatibleBaseUrl" must not contain a user name or a password: store the key, and name it in "compatibleKeyParameter"',
    );
  }
  if (models.length === 0) throw new Error('context "compatibleModels" must name the models of "compatibleBaseUrl"');
  return { baseUrl, models, ...(keyParameter !== undefined && { keyParameter }) };
}

function sandboxSettings(
  stage: Settings["stage"],
  { kinds, lambda }: { readonly kinds: readonly string[]; readonly lambda: string | undefined },
): Pick<Settings, "sandboxes" | "lambdaSandbox"> {
  const sandboxes = kinds.flatMap((kind) => AWS_SANDBOXES.filter((known) => known === kind));
  if (sandboxes.length < kinds.length || new Set(kinds).size < kinds.length) {
    throw new Error(`context "sandboxes" must name some of ${AWS_SANDBOXES.join(", ")}, each once, not "${kinds}"`);
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
