import { describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { describeRoutes, formatRoutes } from "../../scripts/routes.ts";
import { runCommand } from "../../scripts/run-command.ts";

const described = describeRoutes();
const find = (method: string, path: string) =>
  described.find((route) => route.method === method && route.path === `/api/v1${path}`);

describe("describeRoutes", () => {
  it("describes every route of infra/routes.ts", () => {
    expect(described.map(({ file }) => file)).toEqual(routes.map(({ file }) => `functions/${file}.ts`));
  });

  it("expands rights into actions on the table, its indexes, kinds of files and queues", () => {
    expect(find("POST", "/agent/runs/{runId}/followups")).toEqual({
      method: "POST",
      path: "/api/v1/agent/runs/{runId}/followups",
      file: "functions/runs/send-followup.ts",
      callers: ["personal", "agent", "run"],
      scope: "runs:write",
      keyOptional: false,
      rights: [
        {
          actions: [
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:Query",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
          ],
          resources: ["table"],
        },
        { actions: ["s3:GetObject"], resources: ["bucket/runs/*/messages/*", "bucket/attachments/*"] },
        { actions: ["s3:PutObject"], resources: ["bucket/runs/*/followups/*", "bucket/runs/*/attachments/*"] },
        { actions: ["sqs:SendMessage"], resources: ["queue/runs"] },
      ],
    });
    expect(find("POST", "/agent/runs/cancel")?.rights).toContainEqual({
      actions: ["dynamodb:Query"],
      resources: ["table/index/gsi5"],
    });
  });

  it("names the callers of public routes, and routes that serve requests without a key too", () => {
    expect(find("GET", "/docs")).toMatchObject({ callers: ["public"], scope: "public", rights: [] });
    expect(find("POST", "/agent/invitations/{token}/accept")).toMatchObject({
      callers: ["personal"],
      keyOptional: true,
    });
  });
});

describe("formatRoutes", () => {
  it("prints a line for each route and one more for each further right", () => {
    const lines = formatRoutes(described).split("\n");
    expect(lines[0]).toMatch(/^METHOD {2}PATH +CALLERS +SCOPE +RIGHTS$/);
    const first = lines.findIndex((line) => line.includes("/api/v1/agent/runs/{runId}/followups "));
    expect(lines[first]).toMatch(/^POST +\S+ +personal, agent, run +runs:write +dynamodb:GetItem, .* on table$/);
    expect(lines.slice(first + 1, first + 4).map((line) => line.trim())).toEqual([
      "s3:GetObject on bucket/runs/*/messages/*, bucket/attachments/*",
      "s3:PutObject on bucket/runs/*/followups/*, bucket/runs/*/attachments/*",
      "sqs:SendMessage on queue/runs",
    ]);
    expect(lines.find((line) => line.includes("/accept "))).toContain("personal, no key");
    expect(lines.find((line) => line.includes("/api/v1/docs "))).toMatch(/public +public +none$/);
  });
});

describe("node scripts/routes.ts --json", () => {
  it("prints the same routes for programs", async () => {
    const { exitCode, output } = await runCommand(process.execPath, ["scripts/routes.ts", "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(output)).toEqual(described);
  });
});
