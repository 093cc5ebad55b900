import { describe, expect, it } from "vitest";
import type { TransactionWrite } from "#shared/table/table.ts";
import { createTestControlPlane, type ResponseBody } from "../../support/control-plane.ts";
import { type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

const pullRequest = {
  artifact_type: "PULL_REQUEST",
  data: { url: "https://github.com/acme/shop/pull/1", branch: "fix" },
};
const snapshot = { files: [{ filename: "a", mime_type: "text/plain", size_bytes: 1, sha256: "a".repeat(64) }] };
const started = { event_uuid: "e", event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" };
const isHeadUpdate = (write: TransactionWrite) => write.kind === "update" && write.key.sk === "HEAD";

describe("an execution whose run continues without it during a call", () => {
  it.each<readonly [string, (harness: Harness) => Promise<ResponseBody>]>([
    ["messages", (harness) => harness.messages(1, "late")],
    ["finish-task", (harness) => harness.finish()],
    ["client-events", (harness) => harness.event(started)],
    ["notify-user", (harness) => harness.support("notify-user", { message: "late" })],
    ["external-conversation", (harness) => harness.support("external-conversation", { format: "claude_code" })],
    ["report-artifact", (harness) => harness.support("report-artifact", pullRequest)],
    ["upload-snapshot", (harness) => harness.support("upload-snapshot", snapshot)],
  ])("writes nothing by %s, and gets 401", async (_, call) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    let after: unknown;
    const response = await withWriteInBetween(
      plane,
      isHeadUpdate,
      async () => {
        await harness.shutDown();
        await (await nextExecution(plane)).resolve();
        after = structuredClone(plane.table.all());
      },
      () => call(harness),
    );
    expect(response).toMatchObject({ status: 401, body: { error_code: "authentication_required" } });
    expect(after).toBeDefined();
    expect(plane.table.all()).toEqual(after);
  });
});
