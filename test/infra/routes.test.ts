import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entryFiles } from "#infra/entries.ts";
import { eventSources } from "#infra/event-sources.ts";
import { type Route, routes } from "#infra/routes.ts";
import { isScope } from "#shared/wire/keys/scope.ts";
import { repository } from "./synthesize.ts";

describe("routes.ts", () => {
  it("and event-sources.ts name exactly the files of functions/", () => {
    const files = globSync("**/*.ts", { cwd: join(repository, "functions") }).map((file) => file.replace(/\.ts$/, ""));
    expect(files.sort()).toEqual([...entryFiles].sort());
  });

  it("has each method and path once", () => {
    const keys = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("has the same values for a file in every line", () => {
    const settings = ({ method: _method, path: _path, ...rest }: Route) => rest;
    for (const route of routes) {
      const first = routes.find(({ file }) => file === route.file);
      expect(settings(route)).toEqual(first && settings(first));
    }
  });

  it("names every function uniquely", () => {
    const names = new Map(routes.map(({ file, name }) => [file, name ?? file.split("/")[1]]));
    expect(new Set(names.values()).size).toBe(names.size);
  });

  it("lets every function that writes record the last use of the caller's key", () => {
    const changing = routes.filter(
      ({ method, who }) => method !== "GET" && method !== "ANY" && who.includes("personal"),
    );
    const lacking = changing.filter(({ rights }) => !rights.table?.some((action) => action === "UpdateItem"));
    expect(lacking.map(({ file }) => file)).toEqual([]);
  });

  it("waits no longer than API Gateway", () => {
    for (const { timeoutSeconds } of routes) expect(timeoutSeconds ?? 10).toBeLessThanOrEqual(30);
  });

  // @contract general.auth.public: Public routes need no key; all others do.
  it("opens harness support to run keys only, and to everybody only the public routes", () => {
    const open = [
      "/public/runs/{sessionId}",
      "/public/runs/{sessionId}/artifacts/{artifactUid}",
      "/agent/conversations/{conversationId}/redirect",
      "/agent/sessions/{sessionId}/redirect",
      "/hooks/github-app",
      "/hooks/{triggerUid}",
      "/agent/token",
      "/session",
      "/session/methods",
      "/session/oidc",
      "/.well-known/openid-configuration",
      "/.well-known/jwks.json",
      "/openapi.json",
      "/docs",
      "/docs/reference/{name}",
      "/docs/guides/{guide}",
      "/llms.txt",
      "/docs/errors",
      "/docs/errors/{code}",
      "*",
    ];
    expect(routes.filter(({ who }) => who === "public").map(({ path }) => path)).toEqual(open);
    const keyOptional = routes.filter((route) => route.keyOptional).map(({ path }) => path);
    expect(keyOptional).toEqual(["/agent/invitations/{token}/accept"]);
    for (const { path, who } of routes) {
      if (path.startsWith("/harness-support/")) expect(who).toEqual(["run"]);
    }
  });

  it("does not compile with a route that names no scope", () => {
    // @ts-expect-error: it has no scope.
    const unscoped: Route = { method: "GET", path: "/agent/x", file: "x/get-x", who: ["personal"], rights: {} };
    expect(unscoped).not.toHaveProperty("scope");
  });

  it("names one scope for every route, or the exception that it is", () => {
    const exceptions = routes.flatMap(({ method, path, scope }) =>
      isScope(scope) ? [] : [`${scope}: ${method} ${path}`],
    );
    expect(exceptions.filter((line) => !/^(public: |own run: (GET|POST) \/harness-support\/)/.test(line))).toEqual([
      "own run: POST /agent/runs/{runId}/client-events",
      "own session: GET /session",
      "own session: PUT /session",
      "own session: DELETE /session",
      "each tool: POST /mcp",
    ]);
    for (const { scope, who } of routes) {
      expect(scope === "public").toBe(who === "public");
      if (scope === "own run") expect(who).toEqual(["run"]);
      if (scope === "own session") expect(who).toEqual(["personal"]);
    }
  });

  it("has the scope of a run's events for the function that streams them as well", () => {
    const events = routes.find(({ path }) => path === "/agent/runs/{runId}/events");
    expect(eventSources.streamEvents).toMatchObject({ scope: events?.scope, who: events?.who });
  });

  it("lets nothing be changed by a scope that reads", () => {
    const changing = routes.filter(({ method, scope }) => method !== "GET" && scope.endsWith(":read"));
    // Its body names the files; it returns their addresses.
    expect(changing.map(({ path }) => path)).toEqual(["/agent/runs/{runId}/attachments/download"]);
    const reading = routes.filter(({ method, scope }) => method === "GET" && scope.endsWith(":write"));
    expect(reading).toEqual([]);
  });

  it("stays within the limits of one HTTP API", () => {
    expect(routes.length).toBeLessThanOrEqual(300);
  });
});
