import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { ensurePythonEnvironment } from "../../emulator/python-environment.ts";
import { repository, synthesize } from "./synthesize.ts";

const run = promisify(execFile);
const venv = join(repository, ".runyard", "policies");

/** Longer than Python and pip may take together. */
const INSTALL_MS = 420_000;
/** Longer than checkov takes on a busy machine; it needs 15 seconds of a processor. */
const CHECK_MS = 400_000;
const MAX_OUTPUT = { maxBuffer: 64 * 1024 * 1024 };

beforeAll(async () => {
  const requirements = join(import.meta.dirname, "policy-requirements.txt");
  const python = process.env["RUNYARD_PYTHON"] ?? "python3";
  await ensurePythonEnvironment(venv, python, new AbortController().signal, requirements);
}, INSTALL_MS);

const EXAMPLES = ["fresh-account", "default", "everything", "second-in-account", "closed", "restored"];

const readExample = (name: string) =>
  v.parse(
    v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.string())),
    readFileSync(join(repository, "infra/examples", `${name}.json`), "utf8"),
  );

/** Findings of checkov that were reviewed and stay: the logical ids of their resources, and why. */
const BASELINE: Readonly<Record<string, { readonly on: RegExp; readonly reason: string }>> = {
  CKV_AWS_18: {
    on: /^(BucketLogs|FrontDoorWeb)/,
    reason: "One holds access logs itself, the other the public web app.",
  },
  CKV_AWS_21: {
    on: /^(BucketLogs|FrontDoorWeb)/,
    reason: "Logs are written once; each deployment writes the web app again.",
  },
  CKV_AWS_26: {
    on: /^Alarms/,
    reason: "Messages name alarms and metrics, nothing of a run; a KMS key would cost $1 a month.",
  },
  CKV_AWS_27: { on: /(Queue|Dead)[0-9A-F]{8}$/, reason: "SQS encrypts them with its own key (SqsManagedSseEnabled)." },
  CKV_AWS_28: { on: /^LiveTable/, reason: "Live output expires within minutes." },
  CKV_AWS_65: {
    on: /^FargateTasksCluster/,
    reason: "Container Insights are billed by the metric; the service logs what tasks do.",
  },
  CKV_AWS_68: {
    on: /^FrontDoorDistribution/,
    reason: "A web ACL is a setting (webAclArn), since it costs money while idle.",
  },
  CKV_AWS_86: {
    on: /^FrontDoorDistribution/,
    reason: "API Gateway logs each request; the rest is the public web app.",
  },
  CKV_AWS_95: {
    on: /^WorkerSocketStage/,
    reason: "It needs a role of the whole account; the functions log connections and frames.",
  },
  CKV_AWS_107: {
    on: /^SandboxImageBuildRole/,
    reason: "ecr:GetAuthorizationToken has no resource; it is for pulls of one image.",
  },
  CKV_AWS_111: {
    on: /^CustomCDKBucketDeployment/,
    reason: "A function of the CDK that copies the web app during deployments.",
  },
  CKV_AWS_115: {
    on: /./,
    reason: "Reservations are a setting: they take executions from every other function of the account.",
  },
  CKV_AWS_116: {
    on: /./,
    reason: "Queues have dead-letter queues; what else is invoked asynchronously is repeated by a pass.",
  },
  CKV_AWS_117: {
    on: /./,
    reason: "A VPC with a NAT gateway costs $32 a month, and the functions use public endpoints of AWS.",
  },
  CKV_AWS_119: {
    on: /^(Live)?Table/,
    reason: "DynamoDB encrypts with its own key; secrets have a key of their own (secretsKey).",
  },
  CKV_AWS_136: { on: /^SandboxImageRepository/, reason: "The image has no secret; ECR encrypts with its own key." },
  CKV_AWS_158: { on: /./, reason: "CloudWatch encrypts with its own key; lines are redacted before they are written." },
  CKV_AWS_173: { on: /./, reason: "Variables name resources; keys are read from parameters." },
  CKV_AWS_174: {
    on: /^FrontDoorDistribution/,
    reason: "Without a domain, CloudFront's own certificate decides; with one, TLS 1.2 is the least.",
  },
  CKV_AWS_258: {
    on: /^(EventStream|ModelGateway)Url/,
    reason: "Both check the credential of each request; the secret of CloudFront or a run's key.",
  },
};

const Report = v.object({
  summary: v.object({ parsing_errors: v.number(), passed: v.number() }),
  results: v.object({ failed_checks: v.array(v.object({ check_id: v.string(), resource: v.string() })) }),
});

/** Returns what checkov finds in templates, each as its check and resource. */
async function check(templates: readonly { readonly name: string; readonly template: object }[]) {
  const folder = mkdtempSync(join(tmpdir(), "runyard-checkov-"));
  try {
    for (const { name, template } of templates) writeFileSync(join(folder, `${name}.json`), JSON.stringify(template));
    const args = [
      "--framework",
      "cloudformation",
      "--compact",
      "--quiet",
      "--skip-download",
      "--soft-fail",
      "-o",
      "json",
    ];
    const { stdout } = await run(join(venv, "bin", "checkov"), ["-d", folder, ...args], MAX_OUTPUT);
    const { summary, results } = v.parse(v.pipe(v.string(), v.parseJson(), Report), stdout);
    expect(summary.parsing_errors).toBe(0);
    const found = results.failed_checks.map(({ check_id, resource }) => ({
      check: check_id,
      id: resource.split(".").at(-1) ?? "",
    }));
    return { passed: summary.passed, found };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("checkov", () => {
  const seen = new Set<string>();

  it.each(EXAMPLES)(
    "finds nothing in the templates of infra/examples/%s.json that was not reviewed",
    async (name) => {
      const { passed, found } = await check(synthesize(readExample(name)).templates);
      expect(passed).toBeGreaterThan(1_000);
      for (const { check: one } of found) seen.add(one);
      expect(found.filter(({ check: one, id }) => BASELINE[one]?.on.test(id) !== true)).toEqual([]);
    },
    CHECK_MS,
  );

  it("still finds each check of the baseline", () => {
    expect([...seen].toSorted()).toEqual(Object.keys(BASELINE).toSorted());
  });

  it(
    "finds a bucket that everybody may read",
    async () => {
      const Bucket = { Type: "AWS::S3::Bucket", Properties: { AccessControl: "PublicRead" } };
      const { found } = await check([{ name: "planted", template: { Resources: { Bucket } } }]);
      expect(found).toContainEqual({ check: "CKV_AWS_20", id: "Bucket" });
    },
    CHECK_MS,
  );
});

/** Actions that the data of policy_sentry does not have: those of Lambda MicroVMs are newer. */
const NEWER = ["GetMicrovm", "PassNetworkConnector", "RunMicrovm", "TerminateMicrovm"].map((name) => `lambda:${name}`);

const LIST_ACTIONS =
  "import json; from policy_sentry.querying.all import get_all_actions; print(json.dumps(list(get_all_actions())))";

/** Returns the actions of all statements in a value. */
function listActions(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const action = "Effect" in value && "Action" in value ? [value.Action].flat() : [];
  return [...action.filter((one) => typeof one === "string"), ...Object.values(value).flatMap(listActions)];
}

describe("every action that a policy allows or denies", () => {
  it("exists, by the list of actions that policy_sentry has of AWS", async () => {
    const { stdout } = await run(join(venv, "bin", "python"), ["-c", LIST_ACTIONS], MAX_OUTPUT);
    const known = v
      .parse(v.pipe(v.string(), v.parseJson(), v.array(v.string())), stdout)
      .map((action) => action.toLowerCase());
    expect(known.length).toBeGreaterThan(15_000);
    const exists = (action: string) => {
      const pattern = new RegExp(`^${action.toLowerCase().replaceAll("*", ".*")}$`);
      return known.some((one) => pattern.test(one));
    };
    const used = EXAMPLES.flatMap((name) =>
      synthesize(readExample(name)).templates.flatMap(({ template }) => listActions(template)),
    );
    const actions = [...new Set(used)].toSorted();
    expect(actions.length).toBeGreaterThan(60);
    expect(actions.filter((action) => !exists(action))).toEqual(NEWER);
    expect(exists("dynamodb:GetItems")).toBe(false);
  });
});
