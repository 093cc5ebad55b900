import { describe, expect, it } from "vitest";
import { type RunStreamItem, Runyard } from "../../../clients/typescript/src/index.ts";
import { createRun, type Served, useServers, waitForState } from "../support/served.ts";

const servers = useServers();

const createClient = ({ state }: Served): Runyard => new Runyard({ baseURL: state.base_url, apiKey: state.api_key });

/** Reads a stream to its end. */
async function readAll(stream: AsyncIterable<RunStreamItem>) {
  const sequences: number[] = [];
  let output = "";
  for await (const item of stream) {
    if (item.kind === "event") sequences.push(item.event.sequence);
    else if (item.frame.stream === "stdout") output += item.frame.text;
  }
  return { sequences, output };
}

describe("GET /agent/runs/{runId}/events as a stream", () => {
  it("sends each event once and the output of a command while it runs, to 50 readers", async () => {
    const served = await servers.start(servers.directory());
    const client = createClient(served);
    const run = await createRun(
      served,
      "for i in $(seq 4); do echo line $i; sleep 1; done; read -t 2 < <(sleep 9) || true",
    );
    const readers = await Promise.all(Array.from({ length: 50 }, () => readAll(client.runs.stream(run))));
    for (const { sequences, output } of readers) {
      expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, index) => index + 1));
      expect(output.split("\n").filter((line) => line !== "")).toEqual(["line 1", "line 2", "line 3", "line 4"]);
    }
  });

  it("sends the end of the output first to a late reader", async () => {
    const served = await servers.start(servers.directory());
    const client = createClient(served);
    const run = await createRun(served, "seq 100000; echo the last line; until test -f go; do sleep 0.2; done");
    const controller = new AbortController();
    let output = "";
    try {
      for await (const item of client.runs.stream(run, { signal: controller.signal })) {
        if (item.kind === "live") output += item.frame.text;
        if (output.includes("the last line\n")) controller.abort();
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
    expect(output.length).toBeLessThanOrEqual(16_384);
    const late = new AbortController();
    const first = await firstFrame(client.runs.stream(run, { after: 3, signal: late.signal }));
    expect(first).toContain("the last line");
    await client.runs.cancel(run, { force: true });
  });

  it("sends a waiting run's position in the queue whenever it changes, as events named waiting", async () => {
    const served = await servers.start(servers.directory());
    const { body: team } = await served.call("POST", "/agent/teams", { name: "One at a time" });
    await served.call("PUT", `/agent/teams/${team.uid}`, { settings: { concurrency_limit: 1 } });
    const inTeam: Served = {
      ...served,
      call: (method, at, body, headers) => served.call(method, at, body, { "x-team-uid": team.uid, ...headers }),
    };
    const blocker = await createRun(inTeam, "sleep 600");
    await waitForState(inTeam, blocker, "INPROGRESS");
    const ahead = await createRun(inTeam, "true");
    const run = await createRun(inTeam, "true");
    const { base_url, api_key } = served.state;
    const headers = { authorization: `Bearer ${api_key}`, accept: "text/event-stream" };
    const { body } = await fetch(`${base_url}/agent/runs/${run}/events?live=true`, { headers });
    let text = "";
    const positions = () => [...text.matchAll(/^event: waiting\ndata: (.*)$/gm)].map(([, data]) => data);
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const before = positions().length;
      text += piece;
      if (positions().length === before) continue;
      // The first position is followed by the next one, and that by the end of the run.
      await inTeam.call("POST", `/agent/runs/${before === 0 ? ahead : blocker}/cancel?force=true`);
    }
    expect(positions()).toEqual(['{"position":2}', '{"position":1}']);
    expect(text).toContain("event: end\n");
    await waitForState(inTeam, run, "SUCCEEDED");
  });
});

async function firstFrame(stream: AsyncGenerator<RunStreamItem>): Promise<string> {
  for await (const item of stream) if (item.kind === "live") return item.frame.text;
  throw new Error("there was no live output");
}
