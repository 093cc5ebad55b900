import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, type BundleSize, bundle, bundleSizes, bundling } from "#infra/bundle.ts";
import { loadedAtStart } from "#infra/bundle-parts.ts";
import { routes } from "#infra/routes.ts";
import { repository } from "./synthesize.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "runyard-bundle-"));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the deployed code", () => {
  const made: Bundle[] = [];
  const routeSizes: BundleSize[] = [];
  beforeAll(() => {
    made.push(bundle({ outdir: join(root, "real/functions") }));
    const ofRoutes = ({ output }: BundleSize) => output.endsWith("/index.mjs") && !output.startsWith("executions/");
    routeSizes.push(...made.flatMap(bundleSizes).filter(ofRoutes));
  });

  it("of a route is at most 600 kB with the SDK", () => {
    for (const { output, bytes } of routeSizes) {
      // It calls four services of AWS: the table, the storage of files, the keys of the vault, and the function that renews tokens.
      const others = output.startsWith("harness/resolve-prompt/") ? 680_000 : 600_000;
      expect(bytes, output).toBeLessThanOrEqual(/^docs\/(get-|list-pages)/.test(output) ? 900_000 : others);
    }
  });

  it("of a GET and of create-run loads DynamoDB's client at its start, and those of other services on first use", () => {
    const files = routes.filter(({ method, file }) => method === "GET" || file === "runs/create-run");
    for (const { file } of files) {
      const [size] = routeSizes.filter(({ output }) => output.startsWith(`${file}/`));
      expect(size?.bytes, file).toBeLessThanOrEqual(mostAtStart(file));
    }
    for (const { metafile } of made) {
      const [get = ""] = Object.keys(metafile.outputs).filter((path) => path.endsWith("runs/create-run/index.mjs"));
      const inputs = loadedAtStart(metafile, get).flatMap(({ inputs: of }) => Object.keys(of));
      expect(inputs).toContain("shared/aws/dynamo-client.ts");
      expect(inputs.filter((input) => input.includes("node_modules/@aws-sdk/"))).toEqual([]);
    }
  });

  it("includes the adapters and the cron library that are loaded on first use", async () => {
    for (const [part, name] of Object.entries(PARTS)) {
      const path = join(root, "real/functions/runs/create-run/aws", `${basename(part)}-part.mjs`);
      expect(await import(pathToFileURL(path).href)).toHaveProperty(name);
    }
    const module = await import(pathToFileURL(join(root, "real/functions/runs/create-run/index.mjs")).href);
    expect(module).toHaveProperty("handler");
  });

  it("includes each module of these parts once", () => {
    const folder = `${join(root, "real")}/aws/`;
    const outputs = made.flatMap(({ metafile }) => Object.entries(metafile.outputs));
    const parts = outputs.filter(([path]) => join(repository, path).startsWith(folder));
    const modules = parts.flatMap(([, { inputs }]) => Object.keys(inputs));
    const own = Object.keys(PARTS).map((part) => `shared/${part}-part.ts`);
    expect(modules).toEqual(expect.arrayContaining(own));
    expect(modules.filter((module, index) => modules.indexOf(module) !== index)).toEqual([]);
  });

  it("includes the thread that evaluates expressions of triggers next to the functions that need it, in no module", async () => {
    const inputs = made.flatMap(({ metafile }) => Object.entries(metafile.outputs));
    const loading = inputs.flatMap(([path, output]) =>
      output.inputs["shared/triggers/expressions/run-expression.ts"] === undefined ? [] : [dirname(path)],
    );
    const listed = loading.map((folder) => folder.split("/").slice(-2).join("/")).toSorted();
    expect(listed).toEqual(WITH_EXPRESSIONS);
    const libraries = inputs.filter(([, output]) =>
      Object.keys(output.inputs).some((input) => input.includes("@bufbuild")),
    );
    expect(libraries.map(([path]) => basename(path))).toEqual(["expression-worker.mjs"]);
    for (const folder of WITH_EXPRESSIONS) {
      const worker = new Worker(join(root, "real/functions", folder, "expression-worker.mjs"), { env: {} });
      worker.postMessage({ member: "filter", expression: "event.type == 'a'", event: { type: "a" } });
      const outcome = new Promise((resolve) =>
        worker.on("message", (message) => "outcome" in message && resolve(message)),
      );
      expect(await outcome).toEqual({ outcome: { value: true } });
      await worker.terminate();
    }
  });

  it("of the harness contains no agent with a language model in its first file, and no cloud client", async () => {
    const outputs = made.flatMap(({ metafile }) => Object.entries(metafile.outputs));
    const named = new Map(outputs.map(([path, output]) => [path.split("/").slice(-3).join("/"), output]));
    const loaded = new Set<string>();
    const load = (path: string) => {
      const output = named.get(path);
      if (loaded.has(path) || output?.entryPoint?.endsWith("harness/agent/make-agent.ts") === true) return;
      loaded.add(path);
      for (const { path: file } of output?.imports ?? []) load(file.split("/").slice(-3).join("/"));
    };
    load("executions/run-sandbox/harness.mjs");
    const listInputs = (path: string) => Object.keys(named.get(path)?.inputs ?? {});
    expect([...loaded].flatMap(listInputs).some((input) => input.endsWith("harness/engine/runbook.ts"))).toBe(true);
    expect([...loaded].flatMap(listInputs).filter((input) => input.includes("@strands-agents"))).toEqual([]);
    const parts = [...named.keys()].filter((path) => path.startsWith("executions/run-sandbox/part-"));
    expect(parts.flatMap(listInputs).some((input) => input.includes("@strands-agents"))).toBe(true);
    expect(parts.flatMap(listInputs).filter((input) => input.includes("node_modules/@aws-sdk/"))).toEqual([]);
    const [agent] = parts.filter((path) => named.get(path)?.entryPoint?.endsWith("harness/agent/make-agent.ts"));
    expect(await import(pathToFileURL(join(root, "real/functions", agent ?? "")).href)).toHaveProperty("makeAgent");
  });

  it("of the sandbox image is everything that its Dockerfile copies, and no function's", () => {
    const [{ imageDir } = { imageDir: () => "" }] = made;
    const files = readdirSync(imageDir());
    const taken = [
      "Dockerfile",
      "entry.mjs",
      "files.mjs",
      "harness.mjs",
      "markdown.mjs",
      "package-lock.json",
      "package.json",
      "scan.mjs",
    ];
    expect(files.filter((file) => !file.startsWith("part-")).sort()).toEqual(taken);
    expect(readFileSync(join(imageDir(), "Dockerfile"), "utf8")).toContain("COPY *.mjs /opt/runyard/");
  });

  it("contains nothing of the AWS emulation, which the local stage's contains", () => {
    const inputs = made
      .flatMap(({ metafile }) => Object.values(metafile.outputs))
      .flatMap(({ inputs: of }) => Object.keys(of));
    const present = (name: string) => inputs.filter((input) => input.endsWith(`shared/aws/${name}.ts`)).length;
    expect(present("clients")).toBeGreaterThan(40);
    expect(["emulation-hooks", "aws-emulation", "aws-faults", "aws-limits", "dynamo-limits"].filter(present)).toEqual(
      [],
    );
    const listInputs = (stage: "aws" | "local") =>
      Object.keys(
        buildSync({
          absWorkingDir: repository,
          entryPoints: ["shared/aws/clients.ts"],
          outdir: join(root, "clients"),
          write: false,
          metafile: true,
          ...bundling(stage),
        }).metafile.inputs,
      );
    expect(listInputs("local")).toContain("shared/aws/aws-emulation.ts");
    expect(listInputs("local")).toContain("shared/aws/aws-faults.ts");
    expect(listInputs("aws")).not.toContain("shared/aws/aws-emulation.ts");
  });

  it("contains the OpenAPI document only in the functions that serve it", () => {
    const holding = made.flatMap(({ metafile }) =>
      Object.entries(metafile.outputs)
        .filter(([, { inputs }]) => inputs["docs/openapi.json"] !== undefined)
        .map(([path]) => path.split("/").slice(-3, -1).join("/")),
    );
    expect(holding.sort()).toEqual([
      "docs/get-openapi",
      "docs/get-reference",
      "docs/get-reference-page",
      "docs/list-pages",
    ]);
  });

  it("of a route is at most 120 kB without the SDK", () => {
    const larger = routeSizes.filter(({ output, ownBytes }) => ownBytes > 120_000 + carriedBytes(output));
    expect(larger.map(({ output, ownBytes }) => `${output}: ${ownBytes}`)).toEqual([]);
  });
});

/** The functions that check or evaluate expressions of triggers. */
const WITH_EXPRESSIONS = [
  "executions/decide-events",
  ...["triggers/create-trigger", "triggers/test-trigger", "triggers/update-trigger"],
];

/** The exports of the parts that are loaded on first use. */
const PARTS = {
  "aws/files": "openFiles",
  "aws/invocation": "openFunctionCaller",
  "aws/queue": "openRunQueue",
  "aws/timers": "openTimers",
  "schedules/timetable": "findNextFiring",
};

/** Bytes that a GET or create-run may load at its start: see design/decisions/0017-bundle-size-limits.md. */
function mostAtStart(file: string): number {
  // These contain the document that they serve.
  if (/^docs\/(get-openapi|get-reference(-page)?|list-pages)$/.test(file)) return 900_000;
  // The key set is nothing but a parameter, so its function always needs the client of Systems Manager.
  if (file === "run-identity/list-signing-keys") return 279_000;
  if (file === "runs/create-run") return 238_000;
  // It shows the run of the delivery, and its payload from a file.
  if (file === "triggers/get-trigger-delivery") return 160_000;
  // The response is checked against the output schema of its run.
  if (file === "runs/get-response") return 171_000;
  return file === "runs/list-runs" ? 179_000 : 157_000;
}

/** Additional bytes of single routes: see design/decisions/0017-bundle-size-limits.md. */
function carriedBytes(output: string): number {
  // The one that creates repository tokens includes the client of GitHub's API, the vault, the first event of an execution, the setup
  // snapshot of its environment, the look whether the run that made it is still there, the branch of a pull request that it has opened, and
  // the renewal of tokens.
  if (output.startsWith("harness/resolve-prompt/")) return 34_500;
  // A push carries what calls other systems, and reads triggers and their credentials: a secret or an installation of the GitHub App.
  if (output.startsWith("harness/push-branch/")) return 12_500;
  // A follow-up with attachments copies uploads to its run, and it keeps the position of its caller in a trace.
  if (/^(runs\/send-followup|conversations\/send-conversation-followup)\//.test(output)) return 6_500;
  // The endpoints that accept a configuration and create a run carry the library that checks its addresses (13 kB).
  if (output.startsWith("environments/try-environment/")) return 54_000;
  // Also the dry run: the evaluator of conditions, the remedies of errors, unknown members and options, and the reads of workers and secrets.
  if (output.startsWith("runs/create-run/")) return 76_500;
  // It creates a run from a stored configuration.
  if (output.startsWith("schedules/run-schedule/")) return 43_000;
  // They carry the cron library, and the rules of a configuration with the library that checks its addresses.
  if (/^schedules\/(create|update)-/.test(output)) return 57_500;
  // They check the configuration of the runs; the one that creates a trigger carries the vault.
  if (output.startsWith("triggers/create-trigger/")) return 28_000;
  if (output.startsWith("triggers/update-trigger/")) return 15_500;
  // Its response and its request have every setting of runs.
  if (output.startsWith("environments/create-environment/")) return 2_000;
  // The preview of an event plans a run, with the check that its model is not gone, and reads the run of a pressed button and the team of
  // an installation of the GitHub App.
  if (output.startsWith("triggers/test-trigger/")) return 40_500;
  // The response carries the library that checks it against the output schema of its run.
  if (output.startsWith("runs/get-response/")) return 9_000;
  if (output.startsWith("runs/list-runs/")) return 17_500;
  // The end of an execution carries the delivery of its run's end.
  if (output.startsWith("harness/finish-task/")) return 3_000;
  if (output.startsWith("runs/cancel-runs/")) return 6_000;
  // They carry the search of the list of runs; one also what a deletion does.
  if (output.startsWith("runs/delete-runs/")) return 35_000;
  if (/^runs\/(un)?archive-runs\//.test(output)) return 18_500;
  // It deletes what counts against usage.
  if (output.startsWith("runs/delete-run/")) return 2_000;
  // It checks the configuration of its runs, with the models of the deployment and the steps of their prices.
  if (output.startsWith("identities/create-identity/")) return 1_000;
  // It ends the runs of the identity.
  if (output.startsWith("identities/delete-identity/")) return 2_500;
  // The sign-in with an issuer carries the libraries that verify tokens and check addresses, the creation of accounts, and the end of
  // their keys.
  if (output.startsWith("web-sessions/exchange-code/")) return 13_500;
  // The MCP server carries the creation of runs, follow-ups, cancels, the lists of runs, schedules, environments and identities, and the
  // libraries that check responses and describe the arguments of tools.
  if (output.startsWith("mcp/send-message/")) return 187_500;
  // The model gateway carries the filters of three APIs, the budgets of runs and teams, the limits of runs, the errors of providers, the
  // keys of teams with the vault, and the limits of servers.
  if (output.startsWith("model/call-model/")) return 40_500;
  // The signature of identity tokens carries a library, too.
  if (output.startsWith("harness/create-identity-token/")) return 10_500;
  // The exchange of tokens carries the library that verifies them.
  if (output.startsWith("token/create-token/")) return 3_000;
  // The endpoints that compute when a schedule fires carry the cron library, one class that cannot be split.
  return /^schedules\/(pause|resume)-/.test(output) ? 26_500 : 0;
}
