import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { client, commands, type Reply } from "../support/api-client.ts";
import { startService, type TestService } from "../support/service.ts";

/**
 * Seconds that a sandbox of this service may take, and that each command of the long run takes. Commands start in the first eight
 * seconds and must end within eleven, so at most five fit, and the last one has 1.6 s to spare.
 */
const SANDBOX_SECONDS = "16";
const PAUSE_SECONDS = "1.6";
const STEPS = 12;
const MIN_EXECUTIONS = 3;

let service: TestService;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  service = await startService({ environment: { RUNYARD_SANDBOX_SECONDS: SANDBOX_SECONDS } });
  api = client(service);
});
afterAll(() => service[Symbol.asyncDispose]());

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
    const [whole, cut] = await Promise.all([runWith("NONE", "0"), runWith("LONG", PAUSE_SECONDS)]);
    expect(cut.executions).toBeGreaterThanOrEqual(MIN_EXECUTIONS);
    expect(cut.executions).toBeGreaterThan(whole.executions);
    expect(cut.files).toEqual(whole.files);
    expect(cut.outputs).toEqual(whole.outputs);
    expect(cut.transcript).toEqual(whole.transcript);
  }, 400_000);
});

async function runWith(pause: string, seconds: string) {
  // The two runs differ in the value of a secret, which neither shows.
  const made = await api.call("POST", "/agent/secrets", { name: `PAUSE_${pause}`, value: seconds });
  expect(made.status).toBe(201);
  const environment = await api.call("POST", "/agent/environments", {
    name: `pause ${pause}`,
    secrets: [{ name: `PAUSE_${pause}` }],
  });
  const id = await api.create(prompt.replaceAll("$PAUSE", `$PAUSE_${pause}`), {
    title: "Twelve steps",
    config: { environment_id: environment.body.uid },
  });
  const run = await api.ended(id, 300);
  expect(run.status_message?.message ?? run.state).toBe("SUCCEEDED");
  const timeline = await api.timeline(id);
  const executions = timeline.filter(({ event_type }) => event_type === "run_pending").length;
  expect(timeline.map(({ event_type }) => event_type)).not.toContain("execution_lost");
  const transcript = await vi.waitFor(
    async () => {
      const text = await (await fetch(await api.transcriptUrl(id))).text();
      expect(text).toContain("run_succeeded");
      return text;
    },
    { timeout: 60_000, interval: 200 },
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
