import type { ResponseBody } from "../clients/fault-server.ts";

/** A scripted response of the API with this body. */
export const api = (body: unknown, more: Partial<ResponseBody> = {}): ResponseBody => ({
  at: "api",
  status: 200,
  headers: {},
  body,
  delay_ms: 0,
  stall_ms: 0,
  ...more,
});

/** A problem response of the API. */
export const problem = (status: number, error_code: string, detail: string, more: object = {}): ResponseBody =>
  api(
    { title: error_code.replaceAll("_", " "), status, detail, error_code, retryable: false, trace_id: "t-1", ...more },
    { status, headers: { "x-should-retry": "false" } },
  );

/** The responses to the download of a file, which the storage has. */
export const download = (artifact_uid: string, raw: string): ResponseBody[] => [
  api({
    artifact_uid,
    artifact_type: "FILE",
    created_at: "",
    data: { download_url: "{storage}/f", filename: "x" },
  }),
  api(undefined, { at: "storage", raw }),
];

const START = Date.parse("2026-05-18T19:00:00.000Z");

/** The event with this number, each one second after the previous one. */
export const event = (sequence: number, type: string, data: object) => ({
  sequence,
  type,
  occurred_at: new Date(START + (sequence - 1) * 1000).toISOString(),
  data,
});

/** Queued, cloned, a command, and its output of nine lines. */
export function commandEvents() {
  const output = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n");
  return [
    event(1, "run_queued", { state: "QUEUED" }),
    event(2, "setup_repo_clone", { duration_ms: 400, is_error: false }),
    messages(3, "assistant", {
      type: "action",
      id: "a",
      category: "command",
      name: "run_command",
      input: { command: "npm test" },
    }),
    messages(4, "tool", {
      type: "action_result",
      action_id: "a",
      category: "command",
      name: "run_command",
      state: "failed",
      output: { exit_code: 1, stdout: output },
    }),
  ];
}

/** A message of one block. */
export const messages = (sequence: number, role: string, block: object) =>
  event(sequence, "messages", { messages: [{ role, content: [block] }] });

export const RUN = {
  run_id: "r1",
  task_id: "r1",
  root_run_id: "r1",
  title: "Fix it",
  state: "INPROGRESS",
  prompt: "Fix it",
  created_at: "2026-05-18T19:00:00.000Z",
  updated_at: "2026-05-18T19:00:00.000Z",
};

/** What a run shows while a call waits for an approval. */
export const APPROVAL = {
  approval_id: "approval-12",
  tool: "run_command",
  arguments: '{"command":"terraform apply"}',
  action_id: "call-1",
};

/** The response to the creation of a run. */
export const CREATED = api({ run_id: "r1", task_id: "r1", state: "QUEUED" });

/** The responses to a client that creates a run, and follows it to its end by one request for events. */
export const runResponses = (
  state: string,
  run: object,
  text: string,
  events: readonly object[] = [],
): ResponseBody[] => [
  CREATED,
  api({ events, next: events.length, ended: true }),
  api({ ...RUN, state, ...run }),
  api({ text, state, artifacts: [] }),
];
