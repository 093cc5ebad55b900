import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstExample, toVariable } from "#shared/docs/curl.ts";
import { listOperations, type Operation, toObject } from "#shared/docs/openapi.ts";
import { listSamples } from "#shared/docs/samples.ts";
import methods from "../../clients/methods.json" with { type: "json" };
import { Runyard } from "../../clients/typescript/src/index.ts";
import document from "../../docs/openapi.json" with { type: "json" };
import { root } from "../../scripts/run-command.ts";
import { startServer } from "../support/http-server.ts";

/** A call in an example, as Python reads it. */
const PythonCall = v.object({
  method: v.string(),
  values: v.array(v.unknown()),
  named: v.record(v.string(), v.unknown()),
});

interface Sent {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly body: unknown;
}

/** Operations with a method of the clients. Of several operations of one method, the first is used. */
const operations = listOperations(document).filter(
  ({ id }, index, all) =>
    Object.entries(methods).some(([name]) => name === id) &&
    all.findIndex((other) => findMethod(other.id) === findMethod(id)) === index,
);
function findMethod(id: string): string | undefined {
  return Object.entries(methods).find(([name]) => name === id)?.[1];
}

const read = (operation: Operation, title: string): string =>
  listSamples(operation, { document, methods, commands: {} }, "https://runyard.test/api/v1").find(
    (sample) => sample.title === title,
  )?.text ?? "";

/** The request that each example sends. */
const expected = ({ method, path: target, data }: Operation): Sent => ({
  method,
  path: `/api/v1${target.replaceAll(/\{(\w+)\}/g, (_, name: string) => toVariable(name))}`,
  body: firstExample(data),
});

/** A response that the clients accept. */
function findResponse(data: Operation["data"]): { status: number; type: string; body: string } {
  const [status = "200", response] =
    Object.entries(toObject(data["responses"])).find(([code]) => Number(code) < 300) ?? [];
  const [[type, media] = ["", {}]] = Object.entries(toObject(toObject(response)["content"]));
  const example = firstExample({ requestBody: { content: { "application/json": toObject(media) } } });
  return { status: Number(status), type, body: type === "application/json" ? JSON.stringify(example ?? {}) : "text" };
}

const sent: Sent[] = [];
const respond: RequestListener = (request, response) => {
  void readBody(request).then((body) => {
    const [target] = (request.url ?? "").split("?");
    sent.push({ method: request.method, path: target, body });
    const operation = operations.find((one) => matches(one, { method: request.method, path: target }));
    const found = operation === undefined ? { status: 404, type: "", body: "" } : findResponse(operation.data);
    response.writeHead(found.status, found.type === "" ? {} : { "content-type": found.type });
    response.end(found.status === 204 ? "" : found.body);
  });
};
async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = (await request.toArray()).join("");
  return text === "" ? undefined : JSON.parse(text);
}
const matches = (operation: Operation, { method, path: target }: Pick<Sent, "method" | "path">): boolean =>
  operation.method === method && expected(operation).path === target;

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer(respond);
});
afterAll(() => server[Symbol.asyncDispose]());

describe("the examples of the API reference", () => {
  it("in TypeScript send the request of each operation", async () => {
    class Client extends Runyard {
      constructor() {
        super({ baseURL: `${server.url}/api/v1`, apiKey: "ryp_x", maxRetries: 0 });
      }
    }
    for (const operation of operations) {
      sent.length = 0;
      const code = read(operation, "TypeScript").replace(/^import .*\n/, "");
      const call = new Function("Runyard", "console", `return (async () => {${code}})();`);
      // Some responses are redirects and texts that the method does not return; what is sent is compared.
      await Promise.resolve(call(Client, { log: () => {} })).catch(() => {});
      expect(sent[0], code).toEqual(expected(operation));
    }
  });

  it("in Python call the method of each operation, with its parameters", async () => {
    const program = [
      "import ast, json, sys",
      "def read(sample):",
      "    [call] = ast.parse(sample).body[-1].value.args",
      "    values = [ast.literal_eval(each) for each in call.args]",
      "    named = {each.arg: ast.literal_eval(each.value) for each in call.keywords}",
      "    return {'method': ast.unparse(call.func), 'values': values, 'named': named}",
      "print(json.dumps([read(sample) for sample in json.loads(sys.argv[1])]))",
    ].join("\n");
    const samples = operations.map((operation) => read(operation, "Python"));
    const python = process.env["RUNYARD_PYTHON"] ?? "python3";
    const { stdout } = await promisify(execFile)(python, ["-c", program, JSON.stringify(samples)]);
    const calls = v.parse(v.array(PythonCall), JSON.parse(stdout));
    const signatures = readFileSync(path.join(root, "clients/python/api.md"), "utf8");
    for (const [index, operation] of operations.entries()) {
      const { method, values, named } = calls[index] ?? { method: "", values: [], named: {} };
      const dotted = findMethod(operation.id) ?? "";
      const [, list = "missing"] = new RegExp(`\\| \`${RegExp.escape(dotted)}\\(([^)]*)\\)`).exec(signatures) ?? [];
      const [positional = "", keywords = ""] = list.split("*");
      const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => toVariable(name));
      const body = toObject(firstExample(operation.data));
      expect({ method, values }, samples[index]).toEqual({ method: `client.${dotted}`, values: names });
      expect(positional.split(", ").filter((name) => name !== "")).toHaveLength(values.length);
      const known = [...keywords.split(", "), "extra_body"];
      expect(
        Object.keys(named).filter((name) => !known.includes(name)),
        samples[index],
      ).toEqual([]);
      expect(toObject(named["extra_body"] ?? named)).toMatchObject(body);
    }
  });

  it("are made for all operations", () => {
    expect(operations.length).toBeGreaterThan(140);
  });
});
