import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routeNames } from "../support/client.ts";
import { ISSUER_ROUTES } from "../support/valid-requests.ts";
import { type Report, readReport } from "./report.ts";
import { type Outcome, runSchemathesis } from "./schemathesis.ts";
import { type ContractServer, serveContract } from "./server.ts";

/** It takes eight minutes next to the other tests of the second tier on two processors. */
const MAX_MS = 30 * 60_000;

/** The checks that each run must include. */
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "positive_data_acceptance",
  "missing_required_header",
  "unsupported_method",
  "allow_header_conformance",
  "use_after_free",
  "ensure_resource_availability",
  "ignored_auth",
  "error_codes_are_documented",
];

describe("Schemathesis, over every operation of the OpenAPI document", () => {
  let folder: string;
  let server: ContractServer;
  let outcome: Outcome;
  let report: Report;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "schemathesis-"));
    server = await serveContract();
    outcome = await runSchemathesis(server, folder);
    report = await readReport(outcome.report);
    console.log(`Schemathesis ran with seed ${outcome.seed}; SCHEMATHESIS_SEED sets another.`);
  }, MAX_MS);
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("finds no failure", () => {
    expect(outcome.exitCode, outcome.printed).toBe(0);
  });

  test("covers every operation", () => {
    expect([...report.operations.keys()].toSorted()).toEqual([...routeNames].toSorted());
  });

  test("runs every check", () => {
    expect([...report.checks]).toEqual(expect.arrayContaining(CHECKS));
  });

  test("tries at least 25 examples of each", () => {
    const few = [...report.operations].filter(([, { examples }]) => examples < 25).map(([name]) => name);
    expect(few).toEqual([]);
  });

  test("gets a success from each that needs no issuer", () => {
    const never = [...report.operations]
      .filter(([, { statuses }]) => ![...statuses.keys()].some((status) => status >= 200 && status < 300))
      .map(([name]) => name);
    expect(never.toSorted()).toEqual([...ISSUER_ROUTES].toSorted());
  });
});
