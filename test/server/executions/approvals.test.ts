import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { commands, useServers, waitForState } from "../support/served.ts";

const servers = useServers();
const POLL = { timeout: 150_000, interval: 100 };

describe("a run that waits for an approval", () => {
  it("survives SIGKILL of the service and its harnesses, and carries the approved call out once", async () => {
    const directory = servers.directory();
    const begun = path.join(directory, "begun.txt");
    const begins = () => (existsSync(begun) ? readFileSync(begun, "utf8") : "");
    const start = () => servers.start(directory, { hasOwnGroup: true });

    const first = await start();
    const { body: created } = await first.call("POST", "/agent/runs", {
      prompt: commands(`echo deploy >> '${begun}'; sleep 600`),
      config: { model_id: "local/runbook", approvals: [{ tool: "run_command", match: "deploy" }] },
    });
    const { approval } = await waitForState(first, created.run_id, "BLOCKED");
    await first.signalGroup("SIGKILL");

    const second = await start();
    const run = `/agent/runs/${created.run_id}`;
    expect((await second.call("GET", run)).body).toMatchObject({ state: "BLOCKED", waiting_for: "approval", approval });
    expect(begins()).toBe("");
    const approve = { approve: approval.approval_id };
    const answered = await second.call("POST", `${run}/followups`, approve);
    expect(answered.status).toBe(200);
    await expect.poll(begins, POLL).toBe("deploy\n");
    await second.signalGroup("SIGKILL");

    const third = await start();
    expect((await third.call("POST", `${run}/followups`, approve)).body).toEqual(answered.body);
    await expect.poll(async () => (await third.call("GET", run)).body.state, POLL).toBe("FAILED");
    const { steps } = (await third.call("GET", `${run}/conversation`)).body;
    expect(JSON.stringify(steps)).toContain("interrupted with an unknown result");
    expect(begins()).toBe("deploy\n");
    const { events } = (await third.call("GET", `${run}/timeline`)).body;
    const types = events.map(({ event_type }: { event_type: string }) => event_type);
    expect(types.filter((type: string) => type === "approved")).toEqual(["approved"]);
    expect(types).toContain("execution_lost");
  }, 300_000);
});
