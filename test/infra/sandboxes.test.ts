import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { MICROVM_REGIONS } from "#infra/constructs/microvm-image.ts";
import { STARTER } from "#infra/constructs/sandbox-image.ts";
import { eventSources } from "#infra/event-sources.ts";
import { repository, type Synthesized, synthesize } from "./synthesize.ts";

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}
interface RoleProperties {
  readonly Description?: string;
  readonly Policies: { PolicyDocument: { Statement: Statement[] } }[];
}
interface FunctionProperties {
  readonly FunctionName: string;
  readonly PackageType?: string;
  readonly Code: Record<string, unknown>;
  readonly Environment?: { Variables: Record<string, unknown> };
  readonly Role: { "Fn::GetAtt": [string, string] };
}

let usual: Synthesized;
let all: Synthesized;
beforeAll(() => {
  usual = synthesize();
  all = synthesize({ sandboxes: "lambda,microvm,fargate" });
});

const findFunction = (of: Synthesized, name: string) =>
  of.all<FunctionProperties>("AWS::Lambda::Function").find(({ Properties }) => Properties.FunctionName === name);
const getVariables = (of: Synthesized, name: string) => findFunction(of, name)?.Properties.Environment?.Variables ?? {};
function listStatements(of: Synthesized, name: string): Statement[] {
  const role = findFunction(of, name)?.Properties.Role["Fn::GetAtt"][0];
  const { Properties } = of.all<RoleProperties>("AWS::IAM::Role").find(({ id }) => id === role) ?? {};
  return Properties?.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement) ?? [];
}
const listActions = (statements: readonly Statement[]) => statements.flatMap(({ Action }) => Action);
const listTypes = (of: Synthesized) => of.stacks.flatMap(({ resources }) => resources.map(({ Type }) => Type));

describe("the default sandboxes of a deployment", () => {
  it("are functions only: the templates have nothing of MicroVMs or containers, and no permission on them", () => {
    expect(listTypes(usual).filter((type) => /Microvm|ECS|EC2/.test(type))).toEqual([]);
    for (const name of ["runyard-dispatch-run", "runyard-end-run"]) {
      const used = listActions(listStatements(usual, name)).filter((action) =>
        /^(ecs|iam):|Microvm|Connector/.test(action),
      );
      expect(used).toEqual([]);
      expect(Object.keys(getVariables(usual, name)).filter((key) => /SANDBOXES|MICROVM|FARGATE/.test(key))).toEqual([]);
    }
  });

  it("use the one image on AWS, and a zip on the emulator or if configured", () => {
    expect(findFunction(usual, "runyard-run-sandbox-image")?.Properties).toMatchObject({ PackageType: "Image" });
    const zipped = synthesize({ lambdaSandbox: "zip" });
    expect(findFunction(zipped, "runyard-run-sandbox-zip")?.Properties).toMatchObject({ Runtime: "nodejs24.x" });
    expect(listTypes(zipped).filter((type) => /ECR|CodeBuild|CustomResource/.test(type))).toEqual([]);
  });

  it("reject settings that cannot work, by name", () => {
    expect(() => synthesize({ sandboxes: "lambda,docker" })).toThrow(/"sandboxes".*lambda, microvm, fargate/);
    expect(() => synthesize({ sandboxes: "lambda,lambda" })).toThrow(/each once/);
    expect(() => synthesize({ lambdaSandbox: "tar" })).toThrow(/"lambdaSandbox".*image or zip/);
    const local = { stage: "local", baseUrl: "http://127.0.0.1:4500/api/v1" };
    expect(() => synthesize({ ...local, sandboxes: "fargate" })).toThrow(/emulator/);
    expect(() => synthesize({ ...local, lambdaSandbox: "image" })).toThrow(/emulator/);
  });
});

describe("the image", () => {
  it("is built in the account, on arm64, into a repository with immutable tags that expires old images", () => {
    const [project] = usual.all<Record<string, object>>("AWS::CodeBuild::Project");
    expect(project?.Properties).toMatchObject({
      Environment: { Type: "ARM_CONTAINER", PrivilegedMode: true, ComputeType: "BUILD_GENERAL1_SMALL" },
      Source: { Type: "S3" },
      TimeoutInMinutes: 30,
    });
    const [images] = usual.all<{ LifecyclePolicy: { LifecyclePolicyText: string } }>("AWS::ECR::Repository");
    expect(images?.Properties).toMatchObject({
      ImageTagMutability: "IMMUTABLE",
      ImageScanningConfiguration: { ScanOnPush: true },
      EmptyOnDelete: true,
      RepositoryPolicyText: { Statement: [{ Principal: { Service: "lambda.amazonaws.com" } }] },
    });
    expect(images?.Properties.LifecyclePolicy.LifecyclePolicyText).toContain('"countNumber":2');
  });

  it("is built before the function that uses it", () => {
    const resources = usual.stacks.flatMap((stack) => stack.resources);
    const sandbox = resources.find(({ id, Type }) => Type === "AWS::Lambda::Function" && id.startsWith("RunSandbox"));
    expect(JSON.stringify(sandbox)).toContain("SandboxImageBuilt");
  });

  it("is built by a role that pushes to its repository, and started by one that starts its build", () => {
    const roles = usual
      .all<RoleProperties>("AWS::IAM::Role")
      .filter(({ Properties }) => Properties.Description === "runyard-build-sandbox-image");
    const statements = roles.flatMap(({ Properties }) => Properties.Policies[0]?.PolicyDocument.Statement ?? []);
    const actions = listActions(statements);
    expect(actions.every((action) => /^(logs|ecr|ecr-public|sts|s3|codebuild):/.test(action))).toBe(true);
    expect(actions.filter((action) => /Delete|\*|Create(?!LogStream)/.test(action))).toEqual([]);
    const everywhere = statements.filter(({ Resource }) => Resource === "*");
    expect(listActions(everywhere)).toEqual([
      "ecr-public:GetAuthorizationToken",
      "ecr:GetAuthorizationToken",
      "sts:GetServiceBearerToken",
    ]);
  });

  it("installs the programs that the local preflight requires, and the same Node version", () => {
    const dockerfile = readFileSync(join(repository, "image/Dockerfile"), "utf8");
    const preflight = readFileSync(join(repository, "server/host/preflight.ts"), "utf8");
    const { dependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    const [, list = ""] = /--no-install-recommends \\\n([\s\S]*?)\n {4}&& rm/.exec(dockerfile) ?? [];
    const installed = list.split("\n").map((line) => line.replace(/[\s\\]/g, ""));
    expect(installed).toEqual(installed.toSorted());
    const [, tools = ""] = /SANDBOX_TOOLS: Tool\[\] = \[([\s\S]*?)\n\];/.exec(preflight) ?? [];
    const required = [...tools.matchAll(/apt: "([^"]+)"/g)].map(([, name = ""]) => name);
    // The image is itself an isolation boundary, so it has no programs that isolate commands.
    const isolation = ["bubblewrap", "slirp4netns", "iproute2"];
    const wanted = [...required.filter((name) => !isolation.includes(name)), "python3", "python3-venv"];
    expect(wanted.length).toBeGreaterThanOrEqual(6);
    expect(installed).toEqual(expect.arrayContaining(wanted));
    for (const name of isolation) expect(installed).not.toContain(name);
    expect(installed.filter((name) => !wanted.includes(name)).sort()).toEqual([
      "build-essential",
      "ca-certificates",
      "curl",
      "jq",
      "openssh-client",
      "python3-pip",
      "unzip",
    ]);
    expect(dockerfile).toContain(`node:${dependencies.node}-`);
  });
});

describe("the function that starts the image build", () => {
  const event = {
    RequestType: "Create",
    ResponseURL: "https://responses.example/1",
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Built",
  };

  async function call(changes: object, start: (input: object) => Promise<void>) {
    const reported: [string, RequestInit][] = [];
    const exported: { handler?: (event: object) => Promise<void> } = {};
    const sdk = {
      CodeBuildClient: class {
        send = (command: { input: object }) => start(command.input);
      },
      StartBuildCommand: class {
        input: object;
        constructor(input: object) {
          this.input = input;
        }
      },
    };
    const fetchStub = async (url: string, init: RequestInit) => void reported.push([url, init]);
    vi.stubEnv("PROJECT", "runyard-sandbox-image");
    new Function("require", "exports", "fetch", "console", STARTER)(() => sdk, exported, fetchStub, {
      error: () => {},
    });
    await exported.handler?.({ ...event, ...changes });
    vi.unstubAllEnvs();
    return reported.map(([url, { body, headers }]) => ({ url, headers, ...JSON.parse(String(body)) }));
  }

  it("starts it, and lets the build report its result to CloudFormation", async () => {
    const started: object[] = [];
    expect(await call({}, async (input) => void started.push(input))).toEqual([]);
    expect(started).toMatchObject([
      {
        projectName: "runyard-sandbox-image",
        environmentVariablesOverride: [
          { name: "RESPONSE_URL", value: event.ResponseURL },
          { name: "RESPONSE", value: expect.stringContaining('"Status":"STATUS_OF_BUILD"') },
        ],
      },
    ]);
    const [project] = usual.all<{ Source: { BuildSpec: string } }>("AWS::CodeBuild::Project");
    expect(JSON.stringify(project?.Properties.Source.BuildSpec)).toContain("STATUS_OF_BUILD");
  });

  it("reports a build that could not be started, and responds to a deletion at once", async () => {
    const broken = await call({}, () => Promise.reject(new Error("no such project")));
    expect(broken).toMatchObject([{ url: event.ResponseURL, Status: "FAILED", headers: { "content-type": "" } }]);
    expect(broken[0]?.Reason).toMatch(/did not start the build: Error: no such project.*-c lambdaSandbox=zip/s);
    const deleted = await call({ RequestType: "Delete" }, () => Promise.reject(new Error("never")));
    expect(deleted).toMatchObject([{ Status: "SUCCESS", StackId: "stack", RequestId: "request" }]);
  });
});

describe("MicroVMs", () => {
  it("are created in the regions that have them, and in configured ones", () => {
    const conditions = (of: Synthesized) => JSON.stringify(of.conditions);
    for (const region of MICROVM_REGIONS) expect(conditions(all)).toContain(`"${region}"`);
    expect(conditions(all)).not.toContain("eu-central-1");
    const more = synthesize({ sandboxes: "microvm", microvmRegions: "eu-central-1" });
    expect(conditions(more)).toContain('"eu-central-1"');
    const [image] = all.stacks.flatMap((stack) => stack.resources).filter(({ Type }) => Type.endsWith("MicrovmImage"));
    expect(JSON.stringify(image)).toMatch(/"Condition":"MicrovmImageHasMicrovms/);
    expect(JSON.stringify(getVariables(all, "runyard-dispatch-run")["MICROVM_IMAGE_ARN"])).toMatch(/Fn::If.*""\]/);
  });

  it("start from a snapshot without capabilities, variables or secrets, through the program's start hook", () => {
    const [image] = all.all<Record<string, unknown>>("AWS::Lambda::MicrovmImage");
    expect(image?.Properties).toMatchObject({
      AdditionalOsCapabilities: [],
      EnvironmentVariables: [],
      CpuConfigurations: [{ Architecture: "ARM_64" }],
      Hooks: { Port: 9000, MicrovmImageHooks: { Ready: "ENABLED" }, MicrovmHooks: { Run: "ENABLED" } },
    });
    expect(readFileSync(join(repository, "image/entry.ts"), "utf8")).toContain("HOOKS_PORT = 9000");
  });

  it("are started by dispatch and stopped by the end consumer, with permissions on the one image and no role to pass", () => {
    const starts = listStatements(all, "runyard-dispatch-run").filter(({ Action }) =>
      /Microvm|Connector/.test(String(Action)),
    );
    expect(listActions(starts)).toEqual(["lambda:RunMicrovm", "lambda:PassNetworkConnector"]);
    expect(JSON.stringify(starts[0]?.Resource)).toContain(":microvm-image:runyard-sandbox");
    expect(JSON.stringify(starts[1]?.Resource)).toMatch(/INTERNET_EGRESS.*NO_INGRESS/);
    const ends = listStatements(all, "runyard-end-run").filter(({ Action }) => /Microvm/.test(String(Action)));
    expect(listActions(ends)).toEqual(["lambda:GetMicrovm", "lambda:TerminateMicrovm"]);
    const passed = listStatements(all, "runyard-dispatch-run").filter(({ Action }) => Action === "iam:PassRole");
    expect(JSON.stringify(passed)).not.toContain("lambda.amazonaws.com");
  });
});

describe("containers", () => {
  it("run in a network without inbound access that costs nothing while none runs", () => {
    const types = new Set(listTypes(all).filter((type) => type.startsWith("AWS::EC2::")));
    expect([...types].sort()).toEqual([
      "AWS::EC2::InternetGateway",
      "AWS::EC2::Route",
      "AWS::EC2::RouteTable",
      "AWS::EC2::SecurityGroup",
      "AWS::EC2::Subnet",
      "AWS::EC2::SubnetRouteTableAssociation",
      "AWS::EC2::VPC",
      "AWS::EC2::VPCGatewayAttachment",
    ]);
    const [group] = all.all<Record<string, unknown>>("AWS::EC2::SecurityGroup");
    expect(group?.Properties).not.toHaveProperty("SecurityGroupIngress");
    for (const { Properties } of all.all<{ MapPublicIpOnLaunch: boolean }>("AWS::EC2::Subnet")) {
      expect(Properties.MapPublicIpOnLaunch).toBe(false);
    }
    expect(listTypes(all).filter((type) => /ECS::Service|NatGateway|EIP|VPCEndpoint/.test(type))).toEqual([]);
  });

  it("get their image and log through a role that no process of a task has", () => {
    const [role] = all
      .all<RoleProperties>("AWS::IAM::Role")
      .filter(({ Properties }) => Properties.Description === "runyard-fargate-execution");
    expect(listActions(role?.Properties.Policies[0]?.PolicyDocument.Statement ?? [])).toEqual([
      "logs:CreateLogStream",
      "logs:PutLogEvents",
      "ecr:BatchCheckLayerAvailability",
      "ecr:BatchGetImage",
      "ecr:GetDownloadUrlForLayer",
      "ecr:GetAuthorizationToken",
    ]);
  });

  it("are started and stopped in the one cluster, from definitions of ours, with the one role to pass", () => {
    const allowed = (name: string, action: string) => {
      const found = listStatements(all, name).filter(({ Action }) => [Action].flat().includes(action));
      expect(found, action).toHaveLength(1);
      return JSON.stringify(found[0]);
    };
    expect(allowed("runyard-dispatch-run", "ecs:RunTask")).toMatch(/cluster\/runyard".*task-definition\/runyard-\*:\*/);
    expect(allowed("runyard-dispatch-run", "ecs:RegisterTaskDefinition")).toContain('"Resource":"*"');
    expect(allowed("runyard-dispatch-run", "iam:PassRole")).toMatch(/ecs-tasks\.amazonaws\.com.*ExecutionRole/);
    expect(allowed("runyard-end-run", "ecs:StopTask")).toContain(":task/runyard/*");
    expect(allowed("runyard-end-run", "ecs:DescribeTasks")).toContain(":task/runyard/*");
    expect(allowed("runyard-end-run", "ecs:ListTasks")).toMatch(/ecs:cluster.*cluster\/runyard/);
    const ofEcs = [...listStatements(all, "runyard-dispatch-run"), ...listStatements(all, "runyard-end-run")];
    expect(listActions(ofEcs).filter((action) => /^(ecs|iam):/.test(action))).toHaveLength(6);
  });

  it("and MicroVMs are configured only in the functions that start and stop them", () => {
    const configured = all
      .all<FunctionProperties>("AWS::Lambda::Function")
      .filter(({ Properties }) => /MICROVM|FARGATE/.test(JSON.stringify(Properties.Environment ?? {})))
      .map(({ Properties }) => Properties.FunctionName);
    expect(configured.sort()).toEqual(["runyard-dispatch-run", "runyard-end-run"]);
    expect(getVariables(all, "runyard-dispatch-run")["SANDBOXES"]).toBe("lambda,microvm,fargate");
    expect(eventSources.reapRuns.rights).not.toHaveProperty("sandboxes");
  });
});
