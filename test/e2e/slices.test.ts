import { afterAll, beforeAll, expect, test } from "vitest";
import { type CloudProcess, client, commands, dropState, makeState, type Reply, startCloud } from "./cloud.ts";

/**
 * Seconds that a sandbox of this cloud may take, and that each command of the long run takes. After twelve seconds no command
 * begins, so there are four in a sandbox at most; the first of them may begin late on a busy machine.
 */
const SANDBOX_SECONDS = "20";
const PAUSE_SECONDS = "3";
const STEPS = 40;
const LEAST_EXECUTIONS = 10;

let cloud: CloudProcess;
let api: ReturnType<typeof client>;

beforeAll(async () => {
  process.env["RUNYARD_SANDBOX_SECONDS"] = SANDBOX_SECONDS;
  cloud = await startCloud(await makeState());
  api = client(cloud);
}, 300_000);

afterAll(async () => {
  delete process.env["RUNYARD_SANDBOX_SECONDS"];
  expect(await cloud.stop()).toBe(0);
  await dropState(cloud.state);
}, 30_000);

/** Commands that go on from each other's files and directory. Only a variable says how long they take. */
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

test("a run of ten slices leaves the transcript and the files of one that was never cut", async () => {
  const whole = await runWith("0");
  const cut = await runWith(PAUSE_SECONDS);
  expect(whole.executions).toBe(1);
  expect(cut.executions).toBeGreaterThanOrEqual(LEAST_EXECUTIONS);
  expect(cut.files).toEqual(whole.files);
  expect(cut.outputs).toEqual(whole.outputs);
  expect(cut.transcript).toEqual(whole.transcript);
}, 600_000);

async function runWith(pause: string) {
  // What differs between the two runs is the value of a secret, which is shown by neither.
  const made = await api.call("POST", "/agent/secrets", { name: "PAUSE", value: pause });
  expect(made.status).toBe(201);
  const environment = await api.call("POST", "/agent/environments", {
    name: `pause ${pause}`,
    secrets: [{ name: "PAUSE" }],
  });
  const id = await api.create(prompt, { title: "Forty steps", config: { environment_id: environment.body.uid } });
  const run = await api.ended(id, 500);
  expect(run.status_message?.message ?? run.state).toBe("SUCCEEDED");
  expect((await api.call("DELETE", "/agent/secrets/PAUSE")).status).toBe(204);
  const timeline = await api.timeline(id);
  const executions = timeline.filter(({ event_type }) => event_type === "run_pending").length;
  expect(timeline.map(({ event_type }) => event_type)).not.toContain("execution_lost");
  return {
    executions,
    files: run.artifacts.map(({ data }: Reply["body"]) => [data.filename, data.size_bytes, data.sha256]).sort(),
    outputs: await api.outputs(id),
    transcript: messagesOf(await transcriptOf(id)),
  };
}

async function transcriptOf(id: string): Promise<string> {
  const authorization = `Bearer ${cloud.apiKey}`;
  let text = "";
  await expect
    .poll(
      async () => {
        const reply = await fetch(`${cloud.baseUrl}/agent/runs/${id}/transcript`, { headers: { authorization } });
        text = await reply.text();
        return text;
      },
      { timeout: 30_000 },
    )
    .toContain("run_succeeded");
  return text;
}

/** The run and its messages as a transcript has them, without times and ids. Its events tell of executions, of which one had ten. */
const messagesOf = (transcript: string): string[] =>
  transcript
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type !== "event")
    .map((entry) => JSON.stringify(entry, (name, value) => (TIMES_AND_IDS.includes(name) ? undefined : value)));
const TIMES_AND_IDS = [
  ...["run_id", "id", "action_id", "sequence"],
  ...["created_at", "occurred_at", "timestamp", "duration_ms"],
];
