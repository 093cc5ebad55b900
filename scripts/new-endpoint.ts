/**
 * `npm run new:endpoint -- POST "/agent/runs/{runId}/pin" runs/pin-run`: writes the endpoint's file and its event fixtures
 * and prints the line for infra/routes.ts. The generated endpoint type checks, and returns 500 until it is implemented.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { camelCase } from "#infra/entries.ts";
import { root, runTool } from "./run-command.ts";

interface NewEndpoint {
  method: string;
  path: string;
  resource: string;
  verbNoun: string;
}

const newEndpoint = parse(process.argv.slice(2));
if (typeof newEndpoint === "string") {
  console.error(`${newEndpoint}\nUsage: npm run new:endpoint -- POST "/agent/runs/{runId}/pin" runs/pin-run`);
  process.exitCode = 1;
} else {
  await write(newEndpoint);
}

/** The endpoint, or a sentence that says what is wrong with the arguments. */
function parse([method = "", path = "", file = ""]: readonly string[]): NewEndpoint | string {
  const [, resource = "", verbNoun = ""] = /^([a-z]+(?:-[a-z]+)*)\/([a-z]+(?:-[a-z]+)+)$/.exec(file) ?? [];
  if (!["GET", "POST", "PUT", "DELETE"].includes(method)) {
    return `The method is one of GET, POST, PUT, DELETE, not "${method}".`;
  }
  if (!/^(\/([a-z0-9-]+|\{[a-z][A-Za-z]*\}))+$/.test(path)) {
    return `The path is what follows /api/v1, such as "/agent/runs/{runId}/pin", not "${path}".`;
  }
  if (resource === "") {
    return `The file is <resource>/<verb>-<noun>, such as runs/pin-run, not "${file}".`;
  }
  return { method, path, resource, verbNoun };
}

async function write(endpoint: NewEndpoint): Promise<void> {
  const { resource, verbNoun } = endpoint;
  const files = {
    [`functions/${resource}/${verbNoun}.ts`]: source(endpoint),
    [`events/http/${verbNoun}.json`]: json(event(endpoint, { authorization: "Bearer {{api_key}}" })),
    [`events/http/${verbNoun}.bad.json`]: json(event(endpoint, {})),
  };
  const existing = Object.keys(files).filter((file) => existsSync(join(root, file)));
  if (existing.length > 0) {
    console.error(`Nothing was written: ${existing.join(", ")} is there already.`);
    process.exitCode = 1;
    return;
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  await runTool("biome", ["check", "--write", ...Object.keys(files)]);
  console.log(nextSteps(endpoint, Object.keys(files)));
}

function source({ method, path, resource, verbNoun }: NewEndpoint): string {
  const portsFile = (domain: string) => `shared/${domain}/${domain.replace(/s$/, "")}-ports.ts`;
  const domain = existsSync(join(root, portsFile(resource))) ? resource : "runs";
  const ports = `${pascal(domain.replace(/s$/, ""))}Ports`;
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => `${id}: PathId`);
  const request = ids.length > 0 ? `{ path: v.object({ ${ids.join(", ")} }) }` : "{}";
  const name = camelCase(verbNoun);
  return `import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { endpoint${ids.length > 0 ? ", PathId" : ""} } from "#shared/http/endpoint.ts";
import type { ${ports} } from "#${portsFile(domain)}";

/** ${method} ${path}: says in one sentence what it does for the caller. */
export const ${name} = endpoint({
  request: ${request},
  reply: { 200: v.object({}) },
  async run(_call, _ports: ${ports}) {
    throw new RunyardError("internal_error", { detail: "${verbNoun} does nothing yet" });
  },
});
`;
}

/** A request as API Gateway's HTTP API sends it (payload format 2.0), through CloudFront. */
function event({ method, path }: NewEndpoint, credential: Record<string, string>) {
  // Those that a fixture's test and `npm run invoke` fill in.
  const placeholders = ["run_id", "conversation_id", "artifact_uid"];
  const id = (name: string) => {
    const placeholder = placeholders.find((one) => camelCase(one.replaceAll("_", "-")) === name);
    return placeholder === undefined ? "0199a3c4-0000-7000-8000-000000000001" : `{{${placeholder}}}`;
  };
  const rawPath = `/api/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => id(name))}`;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, id(name)]);
  const withBody = method === "POST" || method === "PUT";
  const host = "a1b2c3d4e5.execute-api.us-east-1.amazonaws.com";
  return {
    version: "2.0",
    routeKey: `${method} /api/v1${path}`,
    rawPath,
    rawQueryString: "",
    headers: {
      accept: "*/*",
      "accept-encoding": "br,gzip",
      ...credential,
      "content-length": withBody ? "2" : "0",
      ...(withBody ? { "content-type": "application/json" } : {}),
      host,
      "user-agent": "curl/8.9.1",
      via: "2.0 3f9c2d71a4b85e60c7d8f1029e6b4a35.cloudfront.net (CloudFront)",
      "x-amzn-trace-id": "Root=1-6a0b61b0-6b7e1eea209c275a3e668b0f",
      "x-forwarded-for": "203.0.113.7, 64.252.64.17",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
    },
    requestContext: {
      accountId: "123456789012",
      apiId: "a1b2c3d4e5",
      domainName: host,
      domainPrefix: "a1b2c3d4e5",
      http: { method, path: rawPath, protocol: "HTTP/1.1", sourceIp: "64.252.64.17", userAgent: "curl/8.9.1" },
      requestId: "JKJaXmPLvHcESHA=",
      routeKey: `${method} /api/v1${path}`,
      stage: "$default",
      time: "18/May/2026:19:00:00 +0000",
      timeEpoch: 1779130800000,
    },
    ...(names.length > 0 ? { pathParameters: Object.fromEntries(names) } : {}),
    ...(withBody ? { body: "{}" } : {}),
    isBase64Encoded: false,
  };
}

function nextSteps({ method, path, resource, verbNoun }: NewEndpoint, files: readonly string[]): string {
  const scope = `${resource}:${method === "GET" ? "read" : "write"}`;
  const rights =
    method === "GET" ? '["GetItem", "Query"]' : '["GetItem", "PutItem", "UpdateItem", "ConditionCheckItem"]';
  return [
    `Written: ${files.join(", ")}`,
    "",
    "Add to infra/routes.ts, with the one scope that its callers need (shared/wire/keys/scope.ts) and the fewest rights that do:",
    `  { method: "${method}", path: "${path}", file: "${resource}/${verbNoun}", who: everyone, scope: "${scope}", rights: { table: ${rights} } },`,
    "",
    "Add to test/events/expectations.ts, once it does something:",
    `  "http/${verbNoun}.json": { after: working, outcome: ok },`,
    `  "http/${verbNoun}.bad.json": { after: created, outcome: unknownCaller },`,
    "",
    `Then: its rules in shared/${resource}/, its guarantees in test/api/${verbNoun}.test.ts, a line in CHANGELOG.md.`,
    `Last: a line in clients/methods.json, "${camelCase(verbNoun)}": "${resource.replaceAll("-", "_")}.method", and npm run docs, which takes it into the`,
    "server, the OpenAPI document and the clients.",
  ].join("\n");
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function pascal(words: string): string {
  return camelCase(`-${words}`);
}
