import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { listOperations, type Operation } from "#shared/docs/openapi.ts";
import methods from "../../clients/methods.json" with { type: "json" };
import commands from "../../docs/cli-operations.json" with { type: "json" };
import document from "../../docs/openapi.json" with { type: "json" };
import { root } from "../../scripts/run-command.ts";

const readSources = (folder: string): string =>
  globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
    .map((file) => readFileSync(path.join(root, file), "utf8"))
    .join("\n");
const sources = { "command line": readSources("cli/src"), "web app": readSources("web") };

/** Methods that are written by hand, which send requests of these operations. */
const HELPERS: Readonly<Record<string, string>> = {
  createAttachment: "attachments.upload",
  downloadArtifact: "artifacts.download",
  getTranscript: "runs.downloadTranscript",
  prepareAttachments: "runs.uploadAttachment",
};

/** Why neither the command line nor the web app makes a call. The first reason that applies counts. */
const OMITTED: readonly (readonly [reason: string, applies: (operation: Operation) => boolean])[] = [
  ["a run reports about itself", ({ data }) => data["x-scope"] === "own run"],
  ["another system sends it", ({ path: target }) => target.startsWith("/hooks/")],
  ["a browser, another client or a verifier opens the address", ({ data }) => data["x-scope"] === "public"],
  ["a run's operation does the same", ({ path: target }) => target.startsWith("/agent/conversations/{conversationId}")],
];

const toMethod = (id: string): string =>
  (Object.entries(methods).find(([name]) => name === id)?.[1] ?? "").replaceAll(/_(\w)/g, (_, letter: string) =>
    letter.toUpperCase(),
  );

/** Where an operation is used: found by what the commands of test/cli/calls.test.ts send, and by calls of the client. */
function findUsers({ id }: Operation): string[] {
  const calls = [toMethod(id), HELPERS[id]].filter((call) => call !== undefined && call !== "");
  const isCalled = (text: string) =>
    calls.some((call) => new RegExp(`\\.${String(call).replaceAll(".", "\\s*\\.\\s*")}\\b`).test(text));
  return [
    ...(id in commands ? ["a command"] : []),
    ...Object.entries(sources).flatMap(([name, text]) => (isCalled(text) ? [name] : [])),
  ];
}

describe("every operation of the API", () => {
  const unused = listOperations(document).filter((operation) => findUsers(operation).length === 0);

  it("is used by the command line or the web app, or is left out for a reason", () => {
    const missing = unused.filter((operation) => OMITTED.every(([, applies]) => !applies(operation)));
    expect(missing.map(({ method, path: target }) => `${method} ${target}`)).toEqual([]);
  });

  it("has no reason that no operation needs", () => {
    const reasons = unused.map((operation) => OMITTED.find(([, applies]) => applies(operation))?.[0]);
    expect(OMITTED.map(([reason]) => reason).filter((reason) => !reasons.includes(reason))).toEqual([]);
  });
});
