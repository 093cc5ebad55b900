import { describe, expect, test, vi } from "vitest";
import { client, commands, type Reply } from "../support/api-client.ts";
import { startService } from "../support/service.ts";

/**
 * Seconds that a sandbox of the interrupted run may take, at least, and how many times as long as the whole uninterrupted run takes on this
 * machine: starting and saving must fit into what a sandbox has besides its commands.
 */
const MIN_SANDBOX_SECONDS = 30;
const SANDBOX_FACTOR = 4;
/** The share of a sandbox's time that each command of the interrupted run takes. Commands start in the first 70 percent, so at most seven fit. */
const PAUSE_SHARE = 0.1;
const STEPS = 15;
const MIN_EXECUTIONS = 3;

/** Commands that use the files and the directory of earlier ones. Only a variable sets their duration. */
const prompt = commands(
  ...Array.from({ length: STEPS }, (_, index) =>
    [
      index === 0 ? "mkdir deep && cd deep" : "pwd | sed 's|.*/||'",
      `echo line ${index} >> log.txt; cat log.txt`,
      `echo ${index} >> "$RUNYARD_OUTPUT/steps.txt"; head -c ${1000 * (index + 1)} /dev/zero > "$RUNYARD_OUTPUT/${index}.bin"`,
      'sleep "$PAUSE"',
    ].join("\n"),
  ),
);

describe("a run of several slices", () => {
  test("has the transcript and the files of an uninterrupted run", async () => {
    const startedAt = performance.now();
    const whole = await runWith("NONE", "0");
    const took = (performance.now() - startedAt) / 1000;
    const seconds = Math.ceil(Math.max(MIN_SANDBOX_SECONDS, SANDBOX_FACTOR * took));
    const cut = await runWith("LONG", String(PAUSE_SHARE * seconds), { RUNYARD_SANDBOX_SECONDS: String(seconds) });
    expect(cut.executions).toBeGreaterThanOrEqual(MIN_EXECUTIONS);
    expect(cut.executions).toBeGreaterThan(whole.executions);
    expect(cut.files).toEqual(whole.files);
    expect(cut.outputs).toEqual(whole.outputs);
    expect(cut.transcript).toEqual(whole.transcript);
  }, 1_200_000);
});

/** Runs the commands on a service of their own. */
async function runWith(pause: string, seconds: string, settings: Readonly<Record<string, string>> = {}) {
  await using service = await startService({ environment: settings });
  const api = client(service);
  // The two runs differ in the value of a secret, which neither shows.
  const made = await api.call("POST", "/agent/secrets", { name: `PAUSE_${pause}`, value: seconds });
  expect(made.status).toBe(201);
  const environment = await api.call("POST", "/agent/environments", {
    name: `pause ${pause}`,
    secrets: [{ name: `PAUSE_${pause}` }],
  });
  const id = await api.create(prompt.replaceAll("$PAUSE", `$PAUSE_${pause}`), {
    title: "Fifteen steps",
    config: { environment_id: environment.body.uid },
  });
  const run = await api.ended(id, 900);
  expect(run.status_message?.message ?? run.state).toBe("SUCCEEDED");
  const timeline = await api.timeline(id);
  const executions = timeline.filter(({ event_type }) => event_type === "run_pending").length;
  const lost = timeline.filter(({ event_type }) => event_type === "execution_lost");
  expect(lost.map(({ payload }) => payload.detail)).toEqual([]);
  const transcript = await vi.waitFor(
    async () => {
      const text = await (await fetch(await api.transcriptUrl(id))).text();
      expect(text).toContain("run_succeeded");
      return text;
    },
    { timeout: 120_000, interval: 200 },
  );
  return {
    executions,
    files: run.artifacts.map(({ data }: Reply["body"]) => [data.filename, data.size_bytes, data.sha256]).sort(),
    outputs: await api.outputs(id),
    // The summary of a command has its duration.
    transcript: parseMessages(
      transcript.replaceAll(`PAUSE_${pause}`, "PAUSE").replaceAll(/(exit 0) · [\d.]+ s/g, "$1"),
    ),
  };
}

/** The run and its messages as a transcript has them, without times and ids. Its events name executions, of which one run had several. */
const parseMessages = (transcript: string): string[] =>
  transcript
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type !== "event")
    .map((entry) => JSON.stringify(entry, (name, value) => (TIMES_AND_IDS.includes(name) ? undefined : value)));
const TIMES_AND_IDS = [
  ...["run_id", "id", "action_id", "sequence", "environment_id"],
  ...["created_at", "occurred_at", "timestamp", "duration_ms"],
];
