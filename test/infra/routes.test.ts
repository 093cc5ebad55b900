import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entryFiles } from "#infra/entries.ts";
import { type Route, routes } from "#infra/routes.ts";
import { repository } from "./synthesize.ts";

describe("routes.ts", () => {
  it("and triggers.ts name every file of functions/, and no other", () => {
    const files = globSync("**/*.ts", { cwd: join(repository, "functions") }).map((file) => file.replace(/\.ts$/, ""));
    expect(files.sort()).toEqual([...entryFiles].sort());
  });

  it("has each method and path once", () => {
    const keys = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("says the same of a file wherever it names it", () => {
    const settings = ({ method: _method, path: _path, ...rest }: Route) => rest;
    for (const route of routes) {
      const first = routes.find(({ file }) => file === route.file);
      expect(settings(route)).toEqual(first && settings(first));
    }
  });

  it("gives every function a name of its own", () => {
    const names = new Map(routes.map(({ file, name }) => [file, name ?? file.split("/")[1]]));
    expect(new Set(names.values()).size).toBe(names.size);
  });

  it("lets whatever changes something note the use of the key that it was called with", () => {
    const changing = routes.filter(
      ({ method, who }) => method !== "GET" && method !== "ANY" && who.includes("personal"),
    );
    const lacking = changing.filter(({ rights }) => !rights.table?.some((action) => action === "UpdateItem"));
    expect(lacking.map(({ file }) => file)).toEqual([]);
  });

  it("waits no longer than API Gateway does", () => {
    for (const { timeoutSeconds } of routes) expect(timeoutSeconds ?? 10).toBeLessThanOrEqual(30);
  });

  it("opens the harness's calls to run keys alone, and to everybody only what is meant for everybody", () => {
    const open = [
      "/public/runs/{sessionId}",
      "/agent/conversations/{conversationId}/redirect",
      "/agent/sessions/{sessionId}/redirect",
      "/session",
      "/openapi.json",
      "/docs",
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

  it("stays within what one HTTP API takes", () => {
    expect(routes.length).toBeLessThanOrEqual(300);
  });
});
