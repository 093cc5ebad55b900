import { ids, person, type Samples } from "./values.ts";

/** Members of runs. */
export const RUNS_SAMPLES: Samples = {
  run_id: ids.run,
  task_id: ids.run,
  title: "Fix the flaky checkout test",
  prompt: "Find out why checkout.test.ts fails intermittently, and fix it.",
  submitted_prompt: "Find out why checkout.test.ts fails intermittently, and fix it.",
  state: "SUCCEEDED",
  "RunAgentResponse.state": "QUEUED",
  updated_at: "2026-05-18T19:04:12.518Z",
  finished_at: "2026-05-18T19:04:12.518Z",
  archived: false,
  pending_followups: 0,
  started_at: "2026-05-18T19:00:01.240Z",
  completed_at: "2026-05-18T19:04:12.518Z",
  waiting_for: "answer",
  source: "API",
  execution_location: "REMOTE",
  schedule_id: ids.schedule,
  creator: person,
  executor: person,
  total_tokens: 184203,
  agent_config: {
    model_id: "local/runbook",
    name: "checkout",
  },
  conversation_id: ids.conversation,
  is_sandbox_running: false,
  is_run_type_cancellable: true,
  run_time: "PT4M11S",
  metadata: {
    ticket: "SHOP-1412",
  },
  scope: { type: "Team", uid: ids.team },
  notify_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  mode: "normal",
  upload_url: "https://files.example.com/attachments/0199a3c4?signature=5d41402a",
  file_name: "trace.log",
  attachment_id: "0199a3c4-2b3c-7d4e-8f50-6a7b8c9d0e1f",

  // Follow-ups
  followup_id: "followup-1",
  "FollowupItem.message": "Run the whole suite too, please.",
  "FollowupItem.attachments": [],
};
