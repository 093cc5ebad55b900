import { beforeAll, describe, expect, it } from "vitest";
import { type EventSource, eventSources } from "#infra/event-sources.ts";
import { FILE_PATTERNS, type FileKind, type Rights } from "#infra/rights.ts";
import { type Route, routes } from "#infra/routes.ts";
import { PRIVILEGED_READS } from "#shared/wire/keys/scope.ts";
import { type Resource, type Synthesized, synthesize } from "./synthesize.ts";

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}
interface RoleProperties {
  readonly Policies: { PolicyDocument: { Statement: Statement[] } }[];
  readonly ManagedPolicyArns?: unknown[];
}
interface FunctionProperties {
  readonly FunctionName: string;
  readonly Role: { "Fn::GetAtt": [string, string] };
}

/** The condition of a function that can read encrypted values and no other items. */
const ENCRYPTED_VALUES = { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["VAULT#*"] } };

let deployment: Synthesized;
beforeAll(() => {
  deployment = synthesize();
});

const endpoints = [...new Map(routes.map((route) => [route.file, route])).values()];
const workers: EventSource[] = Object.values(eventSources);
/** What fails of the stream is sent to a dead-letter queue. */
const SEND = "sqs:SendMessage";
const named = (line: Route | EventSource) =>
  line.file === eventSources.runSandbox.file
    ? "runyard-run-sandbox-image"
    : `runyard-${("name" in line ? line.name : undefined) ?? line.file.split("/")[1]}`;

describe("a function's role", () => {
  it.each(endpoints.map((route) => [route.file, route]))(
    "%s has exactly the permissions of its line in routes.ts",
    (_, route) => {
      expect(listActions(named(route))).toEqual(expected(route.rights, route.untraced !== true));
    },
  );

  it.each(workers.map((source) => [source.file, source]))(
    "%s has exactly the permissions of its line in event-sources.ts",
    (_, source) => {
      const { dispatchRun, endRun, runSandbox, reapRuns, reconcileSchedules, planDeliveries, decideEvents } =
        eventSources;
      const consumers: readonly EventSource[] = [dispatchRun, endRun, decideEvents];
      const extra = consumers.includes(source)
        ? ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
        : source === planDeliveries
          ? [
              ...["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"].map((name) => `dynamodb:${name}`),
              SEND,
            ]
          : [];
      const untraced: readonly EventSource[] = [runSandbox, reapRuns, reconcileSchedules, planDeliveries, decideEvents];
      const traces = !untraced.includes(source);
      expect(listActions(named(source))).toEqual([...new Set([...expected(source.rights, traces), ...extra])].sort());
    },
  );

  it("of the sandbox can write its own log, and is denied everything else", () => {
    const statements = listStatements("runyard-run-sandbox-image");
    expect(statements).toHaveLength(1);
    expect(statements[0]?.Action).toEqual(["logs:CreateLogStream", "logs:PutLogEvents"]);
    expect(JSON.stringify(statements[0]?.Resource)).toMatch(/RunSandboxLog/);
    const denied = deployment
      .all<RoleProperties>("AWS::IAM::Role")
      .filter((role) => /"Deny"/.test(JSON.stringify(role)));
    expect(denied.map(({ id }) => id)).toEqual([expect.stringMatching(/^RunSandboxRole/)]);
  });

  it("of the function that connects to receivers of webhooks can read signing secrets, and nothing of runs", () => {
    const statements = listStatements("runyard-send-webhooks");
    const own = statements.filter(({ Action }) => !/^(logs|xray):/.test([Action].flat().join()));
    expect(own.map(({ Action }) => Action)).toEqual(["dynamodb:BatchGetItem", "ssm:GetParameter", "ssm:GetParameters"]);
    expect(own[0]?.Condition).toEqual(ENCRYPTED_VALUES);
    expect(JSON.stringify(own[1]?.Resource)).toContain(':parameter/runyard/vault/webhook-secrets"');
    expect(JSON.stringify(own[2]?.Resource)).toContain(":parameter/runyard/webhook-secrets/*");
  });

  it("of the function that calls other systems can read secrets of teams, and nothing of runs", () => {
    const statements = listStatements("runyard-call-systems");
    const own = statements.filter(({ Action }) => !/^(logs|xray):/.test([Action].flat().join()));
    expect(own.map(({ Action }) => Action)).toEqual(["dynamodb:BatchGetItem", "ssm:GetParameter", "ssm:GetParameters"]);
    expect(own[0]?.Condition).toEqual(ENCRYPTED_VALUES);
    expect(JSON.stringify(own[1]?.Resource)).toContain(':parameter/runyard/vault/secrets"');
    expect(JSON.stringify(own[2]?.Resource)).toContain(":parameter/runyard/secrets/*");
  });

  it("has no wildcard in an action, and in resources only for traces and the bucket's objects", () => {
    for (const statement of allStatements()) {
      const actions = [statement.Action].flat();
      expect(actions.filter((action) => action.includes("*"))).toEqual([]);
      const resource = JSON.stringify(statement.Resource);
      if (actions.every((action) => action.startsWith("xray:Put"))) expect(resource).toBe('"*"');
      else if (
        actions.every((action) => /^(ecr(-public)?:GetAuthorizationToken|sts:GetServiceBearerToken)$/.test(action))
      )
        expect(resource).toBe('"*"');
      else if (actions.join() === "s3:ListBucket" && statement.Condition !== undefined)
        expect(resource).toMatch(/^{"Fn::ImportValue":"[^"*]*Bucket[^"*]*"}$/);
      else if (actions.every((action) => /^s3:(ListBucket|GetBucketLocation)$/.test(action)))
        expect(resource).toMatch(/:s3:::",{"Fn::Sub":"cdk-[^"*]*-assets-[^"*]*"}\]\]}$/);
      else if (actions.every((action) => action.startsWith("s3:")))
        for (const one of [statement.Resource].flat())
          expect(JSON.stringify(one)).toMatch(/Bucket.*"\/[a-z]+\/[^"]*"|cdk-.*-assets-.*\/[0-9a-f]{64}\.zip"/);
      else if (actions.every((action) => action.startsWith("scheduler:")))
        expect(resource).toContain(":schedule/runyard/*");
      else if (actions.every((action) => action.startsWith("ssm:")))
        expect(resource).toMatch(
          /:parameter\/runyard\/((webhook-)?secrets\/\*|vault\/(webhook-)?secrets|identity-keys\/ring|github-token)"/,
        );
      else if (actions.join() === "dynamodb:ListStreams") expect(resource).toContain("/stream/*");
      else if (actions.every((action) => action === "execute-api:ManageConnections"))
        expect(resource.match(/WorkerSocket[^*]*\*"/g)).toHaveLength(2);
      else expect(resource).not.toContain("*");
    }
  });

  it.each(
    [...endpoints, ...workers]
      .filter(({ rights }) => rights.bucket !== undefined)
      .map((line) => [line.file, line] as const),
  )("%s can access exactly the kinds of files in its line", (_, line) => {
    const rights: Rights = line.rights;
    const statements = listStatements(named(line)).filter(({ Action }) => /^s3:/.test([Action].flat().join()));
    const reached = (action: string) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(action))
        .flatMap(patternsIn)
        .toSorted();
    const listPatterns = (kinds: readonly FileKind[] = []) =>
      kinds.map((kind) => `bucket/${FILE_PATTERNS[kind]}`).toSorted();
    expect(reached("s3:GetObject")).toEqual(listPatterns(rights.bucket?.GetObject));
    expect(reached("s3:PutObject")).toEqual(listPatterns(rights.bucket?.PutObject));
    expect(reached("s3:DeleteObject")).toEqual(listPatterns(rights.bucket?.DeleteObject));
    const listings = statements.filter(({ Action }) => [Action].flat().includes("s3:ListBucket"));
    expect(listings.map(({ Condition }) => Condition)).toEqual(
      rights.bucket?.ListBucket === undefined ? [] : [{ StringLike: { "s3:prefix": rights.bucket.ListBucket } }],
    );
  });

  it("of a list of agents cannot read transcripts, prompts or artifacts", () => {
    const reached = listStatements("runyard-list-agents").filter(({ Action }) => /^s3:/.test([Action].flat().join()));
    expect(reached.flatMap(patternsIn)).toEqual(["bucket/skills/*"]);
  });

  it("never allows Scan, PartiQL, or anything on whole tables", () => {
    const ofAssets = (statement: Statement) => /"cdk-[^"]*-assets-/.test(JSON.stringify(statement.Resource));
    const actions = new Set(allStatements().flatMap((one) => (ofAssets(one) ? [] : one.Action)));
    for (const action of actions) expect(action).not.toMatch(/Scan|PartiQL|Table/);
  });

  it("allows a list of the bucket's keys to the deletion of old runs only, below two prefixes", () => {
    const ofBucket = ({ Action, Resource }: Statement) =>
      [Action].flat().includes("s3:ListBucket") && !/"cdk-[^"]*-assets-/.test(JSON.stringify(Resource));
    const prefixes = { StringLike: { "s3:prefix": ["runs/*", "snapshots/*"] } };
    expect(allStatements().filter(ofBucket)).toMatchObject([{ Condition: prefixes }]);
    expect(listStatements("runyard-delete-old-runs").filter(ofBucket)).toHaveLength(1);
  });

  it("of a reader of events can write only the time of watching, and remove old live output", () => {
    for (const name of ["runyard-list-events", "runyard-stream-events"]) {
      const writes = listStatements(name).filter(({ Action }) =>
        /(Put|Update|Delete)Item/.test([Action].flat().join()),
      );
      const [live, watch, ...others] = writes;
      expect(others).toEqual([]);
      expect(JSON.stringify(live?.Resource)).toMatch(/LiveTable/);
      expect(watch).toMatchObject({
        Action: "dynamodb:UpdateItem",
        Condition: { "ForAllValues:StringEquals": { "dynamodb:Attributes": ["pk", "sk", "watched_at", "state"] } },
      });
    }
  });

  it("of a GET cannot write, except for readers of events, and the refusals of privileged reads", () => {
    const writes = /^(dynamodb:(Put|Update|Delete|ConditionCheck|BatchWrite)|s3:(Put|Delete)|sqs:)/;
    for (const route of routes.filter(({ method, file }) => method === "GET" && file !== "runs/list-events")) {
      const refusals = PRIVILEGED_READS.includes(route.scope) ? ["dynamodb:PutItem", "dynamodb:UpdateItem"] : [];
      expect(listActions(named(route)).filter((action) => writes.test(action))).toEqual(refusals);
    }
  });

  it("to record the refusals of a read reaches the items of the audit log only", () => {
    const [route] = routes.filter(({ file }) => file === "audit/list-audit-events");
    const statements = route === undefined ? [] : listStatements(named(route));
    const written = statements.filter(({ Action }) => [Action].flat().includes("dynamodb:PutItem"));
    expect(written).toMatchObject([
      {
        Action: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
        Condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["AUDIT#*"] } },
      },
    ]);
  });

  it("of a GET can invoke only the function that discovers skills", () => {
    for (const route of routes.filter(({ method }) => method === "GET")) {
      const calls = listStatements(named(route)).filter(({ Action }) =>
        [Action].flat().includes("lambda:InvokeFunction"),
      );
      expect(calls, route.path).toHaveLength(route.rights.discovery === undefined ? 0 : 1);
      for (const { Resource } of calls) expect(JSON.stringify(Resource)).toContain("DiscoverSkills");
    }
  });

  it("can read the GitHub token only for discovery, and no other parameter with it", () => {
    const readers = ["ssm:GetParameter"].flatMap((action) =>
      allStatements().filter(
        ({ Action, Resource }) => [Action].flat().includes(action) && /github/.test(JSON.stringify(Resource)),
      ),
    );
    expect(readers).toHaveLength(1);
    expect(listStatements("runyard-discover-skills")).toContainEqual(readers[0]);
    expect(JSON.stringify(readers[0]?.Resource)).not.toContain("*");
    expect(JSON.stringify(readers[0]?.Resource)).not.toContain("github-app-key");
  });

  it("can read the GitHub App's key where tokens are issued and installations claimed, if the settings name an App", () => {
    const own = synthesize({ githubAppId: "314159", githubAppKeyParameter: "/ours/app" });
    const readers = own
      .all<RoleProperties>("AWS::IAM::Role")
      .filter((role) => JSON.stringify(statementsIn(role)).includes(":parameter/ours/app"));
    expect(readers).toHaveLength(5);
    const reads = readers.flatMap(statementsIn).filter(({ Action }) => Action === "ssm:GetParameter");
    const others = reads.flatMap(({ Resource }) =>
      [Resource].flat().filter((one) => !JSON.stringify(one).includes(":parameter/ours/app")),
    );
    expect(others.map((one) => /:parameter([^"]*)"/.exec(JSON.stringify(one))?.[1]).toSorted()).toEqual([
      "/runyard/github-app-client-secret",
      "/runyard/github-app-client-secret",
      "/runyard/github-token",
      "/runyard/vault/secrets",
      "/runyard/vault/secrets",
    ]);
    expect(JSON.stringify(reads.map(({ Resource }) => Resource))).not.toContain("*");
    // Only discovery gets the token that gives permanent access to all repositories.
    expect(reads.filter(({ Resource }) => JSON.stringify(Resource).includes("github-token"))).toHaveLength(1);
    const variables = own
      .all<{ Environment?: { Variables: Record<string, unknown> } }>("AWS::Lambda::Function")
      .map(({ Properties }) => Properties.Environment?.Variables ?? {})
      .filter((all) => "GITHUB_APP_ID" in all);
    expect(variables).toHaveLength(5);
    for (const all of variables)
      expect(all).toMatchObject({ GITHUB_APP_ID: "314159", GITHUB_APP_KEY_PARAMETER: "/ours/app" });
    expect(variables.filter((all) => "GITHUB_TOKEN_PARAMETER" in all)).toHaveLength(1);
  });

  it("can read the client secret of the OIDC issuer only in the exchange of codes", () => {
    const issuer = {
      oidcIssuer: "https://issuer.example",
      oidcClientId: "web",
      oidcClientSecretParameter: "/ours/oidc",
    };
    const own = synthesize(issuer);
    const readers = own
      .all<RoleProperties>("AWS::IAM::Role")
      .filter((role) => JSON.stringify(statementsIn(role)).includes(":parameter/ours/oidc"));
    expect(readers).toHaveLength(1);
    const variables = own
      .all<{ Environment?: { Variables: Record<string, unknown> } }>("AWS::Lambda::Function")
      .map(({ Properties }) => Properties.Environment?.Variables ?? {});
    const withSecret = variables.filter((all) => "OIDC_SECRET_PARAMETER" in all);
    expect(withSecret).toMatchObject([
      { OIDC_ISSUER: "https://issuer.example", OIDC_CLIENT_ID: "web", OIDC_SECRET_PARAMETER: "/ours/oidc" },
    ]);
  });

  it("names the collector of traces to the consumer of ends only, which alone can read the headers for it", () => {
    const own = synthesize({ otlpEndpoint: "https://otlp.example", otlpHeadersParameter: "/ours/otlp" });
    const readers = own
      .all<RoleProperties>("AWS::IAM::Role")
      .filter((role) => JSON.stringify(statementsIn(role)).includes(":parameter/ours/otlp"));
    expect(readers).toHaveLength(1);
    const traced = own
      .all<{ FunctionName?: string; Environment?: { Variables: Record<string, unknown> } }>("AWS::Lambda::Function")
      .map(({ Properties }) => Properties)
      .filter(({ Environment }) => "OTEL_EXPORTER_OTLP_ENDPOINT" in (Environment?.Variables ?? {}));
    expect(traced.map(({ FunctionName }) => FunctionName)).toEqual(["runyard-end-run"]);
    expect(traced[0]?.Environment?.Variables).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://otlp.example",
      OTLP_HEADERS_PARAMETER: "/ours/otlp",
    });
  });

  const all = [...endpoints, ...workers].map(named);
  const listReaders = (parameter: string) =>
    all.filter((name) =>
      listStatements(name).some(
        ({ Action, Resource }) =>
          [Action].flat().some((action) => action.startsWith("ssm:Get")) &&
          JSON.stringify(Resource).includes(`:parameter/runyard/${parameter}"`),
      ),
    );

  it("lets only resolve-prompt, the model gateway, the function that calls other systems and the endpoint that creates secrets read their key", () => {
    const readers = ["runyard-resolve-prompt", "runyard-call-model", "runyard-call-systems"];
    expect(listReaders("secrets/*")).toEqual(readers);
    expect(listReaders("vault/secrets").toSorted()).toEqual([...readers, "runyard-create-secret"].toSorted());
    for (const name of ["runyard-resolve-prompt", "runyard-call-model"]) {
      expect(listActions(name).filter((action) => action.startsWith("ssm:"))).toEqual([
        "ssm:GetParameter",
        "ssm:GetParameters",
      ]);
    }
  });

  it("lets only functions of webhooks and triggers read the key of their secrets", () => {
    expect(listReaders("vault/webhook-secrets").toSorted()).toEqual([
      "runyard-create-trigger",
      "runyard-create-webhook",
      "runyard-receive-event",
      "runyard-rotate-trigger-secret",
      "runyard-rotate-webhook-secret",
      "runyard-send-webhooks",
    ]);
  });

  it("never allows a key of the vault to be replaced", () => {
    const ofVault = allStatements().filter(({ Resource }) =>
      /:parameter\/runyard\/vault\//.test(JSON.stringify(Resource)),
    );
    const actions = new Set(ofVault.flatMap(({ Action }) => Action));
    expect([...actions].toSorted()).toEqual(["ssm:GetParameter", "ssm:PutParameter"]);
    const puts = ofVault.filter(({ Action }) => [Action].flat().includes("ssm:PutParameter"));
    expect(puts).toHaveLength(5);
    for (const { Condition } of puts) {
      expect(Condition).toEqual({ StringNotEqualsIgnoreCase: { "ssm:Overwrite": "true" } });
    }
  });

  it("can use the KMS key of the settings for the parameter that it reads or creates only", () => {
    const secretsKey = "arn:aws:kms:eu-west-1:111122223333:key/1-2";
    const own = synthesize({ secretsKey });
    const roles = own.all<RoleProperties>("AWS::IAM::Role");
    const uses = roles.flatMap((role) => {
      const statements = statementsIn(role).filter(({ Action }) => /kms:/.test([Action].flat().join()));
      const parameters = statementsIn(role)
        .filter(({ Action }) => [Action].flat().includes("ssm:GetParameter"))
        .flatMap(({ Resource }) => [Resource].flat().map((one) => JSON.stringify(one)));
      for (const { Resource, Condition } of statements) {
        expect(Resource).toBe(secretsKey);
        const context = Object(Object(Condition)["StringEquals"])["kms:EncryptionContext:PARAMETER_ARN"];
        expect(JSON.stringify(context)).toMatch(/:parameter\/runyard\/vault\/(webhook-)?secrets"/);
        expect(parameters).toContain(JSON.stringify(context));
      }
      return statements.map(({ Action }) => [Action].flat().join(" "));
    });
    expect(uses.toSorted()).toEqual([...Array(5).fill("kms:Decrypt"), ...Array(5).fill("kms:Decrypt kms:Encrypt")]);
    const variables = own
      .all<{ Environment?: { Variables: Record<string, unknown> } }>("AWS::Lambda::Function")
      .flatMap(({ Properties }) => Properties.Environment?.Variables["SECRETS_KMS_KEY"] ?? []);
    expect(variables).toEqual(Array(5).fill(secretsKey));
    expect(JSON.stringify(allStatements())).not.toContain("kms:");
  });

  it("uses no policy that others may change", () => {
    expect(
      deployment.all<RoleProperties>("AWS::IAM::Role").filter((role) => role.Properties.ManagedPolicyArns),
    ).toEqual([]);
    expect(deployment.all("AWS::IAM::Policy")).toEqual([]);
    expect(deployment.all("AWS::IAM::ManagedPolicy")).toEqual([]);
  });

  it("belongs to one function", () => {
    const roles = deployment
      .all<FunctionProperties>("AWS::Lambda::Function")
      .map(({ stack, Properties }) => `${stack}/${Properties.Role["Fn::GetAtt"][0]}`);
    expect(new Set(roles).size).toBe(roles.length);
  });
});

describe("the type of a route", () => {
  it("gives a GET no write permission", () => {
    const line = { method: "GET", path: "/x", file: "x/get-x", who: "public" } as const;
    // @ts-expect-error PutItem is not a right that a GET can have.
    const writing: Route = { ...line, rights: { table: ["PutItem"] } };
    // @ts-expect-error Nor can it send messages.
    const sending: Route = { ...line, rights: { runsQueue: ["SendMessage"] } };
    // @ts-expect-error Scan is not a right.
    const scanning: Route = { ...line, rights: { table: ["Scan"] } };
    expect([writing, sending, scanning]).toHaveLength(3);
  });
});

function expected(rights: Rights, traces = true): string[] {
  const actions = [
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    ...(traces ? ["xray:PutTraceSegments", "xray:PutTelemetryRecords"] : []),
    ...[rights.table, rights.live, rights.watch, rights.refusals, rights.vault].flatMap((table) =>
      (table ?? []).map((action) => `dynamodb:${action}`),
    ),
    ...Object.keys(rights.bucket ?? {}).map((action) => `s3:${action}`),
    ...[rights.runsQueue, rights.endsQueue, rights.eventsQueue, rights.deadRunsQueue].flatMap((queue) =>
      (queue ?? []).map((action) => `sqs:${action}`),
    ),
    ...[rights.sandbox, rights.discovery, rights.webhookAttempts, rights.webhookSender, rights.systems].flatMap(
      (calls) => (calls ?? []).map((action) => `lambda:${action}`),
    ),
    ...(rights.workerSockets ?? []).map((action) => `execute-api:${action}`),
    ...(rights.github ?? []).map((action) => `ssm:${action}`),
    ...[
      rights.secretsKey,
      rights.webhookSecretsKey,
      rights.secrets,
      rights.webhookSecrets,
      rights.identityKeys,
    ].flatMap((parameters) => (parameters ?? []).map((action) => `ssm:${action}`)),
    ...(rights.timers ?? []).map((action) => `scheduler:${action}`),
    ...(rights.timers?.some((action) => action !== "DeleteSchedule") ? ["iam:PassRole"] : []),
  ];
  return [...new Set(actions)].sort();
}

function listActions(functionName: string): string[] {
  return [...new Set(listStatements(functionName).flatMap(({ Action }) => Action))].sort();
}

function listStatements(functionName: string): Statement[] {
  const found = deployment
    .all<FunctionProperties>("AWS::Lambda::Function")
    .find(({ Properties }) => Properties.FunctionName === functionName);
  if (!found) throw new Error(`no function is called ${functionName}`);
  return statementsIn(findRole(found));
}

function findRole({ stack, Properties }: Resource<FunctionProperties>): Resource<RoleProperties> {
  const id = Properties.Role["Fn::GetAtt"][0];
  const role = deployment.all<RoleProperties>("AWS::IAM::Role").find((one) => one.stack === stack && one.id === id);
  if (!role) throw new Error(`no role ${id} in ${stack}`);
  return role;
}

/** The objects of the service's bucket that a statement allows. */
function patternsIn({ Resource }: Statement): string[] {
  return [Resource].flat().flatMap((resource) => {
    const [, pattern] = /Bucket\w*(?:Arn)?\w*"[^/]*"\/([^"]+)"/.exec(JSON.stringify(resource)) ?? [];
    return pattern === undefined ? [] : [`bucket/${pattern}`];
  });
}

function allStatements(): Statement[] {
  return deployment.all<RoleProperties>("AWS::IAM::Role").flatMap(statementsIn);
}

/** The statements of a role that allow something. */
function statementsIn(role: Resource<RoleProperties>): Statement[] {
  const statements = (role.Properties.Policies ?? []).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  return statements.filter(({ Effect }) => Effect === "Allow");
}
