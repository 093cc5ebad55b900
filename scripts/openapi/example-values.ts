import type { Json } from "./json.ts";

const GITHUB_RULE: Json = {
  issuer: "https://token.actions.githubusercontent.com",
  audience: "https://runyard.example.com",
  subject_pattern: "repo:acme/shop:ref:refs/heads/main",
  max_budget_usd: 5,
  ttl_seconds: 1800,
};

/** Named examples by `operation` for requests and `operation.status` for responses. All others are generated from samples. */
export const OWN_EXAMPLES: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  createRun: {
    smallest: { prompt: "Say hello.\n\n```sh\necho hello\n```" },
    labelled: {
      prompt: "Find out why checkout.test.ts fails intermittently, and fix it.",
      title: "Fix the flaky checkout test",
      config: { name: "checkout", model_id: "local/runbook" },
      metadata: { ticket: "SHOP-1412" },
    },
  },
  "cancelRun.200": { id: "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e" },
  "getOpenapi.200": { start: { openapi: "3.1.1" } },
  cancelRuns: { waiting: { filter: { state: ["QUEUED"], metadata: { ticket: "SHOP-1412" } } } },
  "cancelRuns.200": { some: { matched: 3, cancelled: 3, refused: [], has_more: false } },
  deleteRuns: { failed: { filter: { task_status: ["failed"], created_before: "2026-04-18T19:00:00.000Z" } } },
  archiveRuns: { ended: { filter: { state: ["SUCCEEDED"], created_before: "2026-04-18T19:00:00.000Z" } } },
  unarchiveRuns: { labelled: { filter: { metadata: { ticket: "SHOP-1412" } } } },
  createEnvironment: {
    shop: {
      name: "shop",
      github_repos: [{ owner: "acme", repo: "shop" }],
      setup_commands: ["npm ci"],
      secrets: [{ name: "NPM_TOKEN" }],
    },
  },
  updateEnvironment: { commands: { setup_commands: ["npm ci", "npm run build"] } },
  shareEnvironment: { byLink: { link: true } },
  unshareEnvironment: { byLink: { link: true } },
  createSession: { link: { token: "ryl_3xQ0…" } },
  exchangeCode: {
    redirected: {
      code: "SplxlOBeZQQYbYS6WxSbIA",
      state: "VstnFgdySLHrVFAJ-MXGNxM7RBo8FXnhVtUuMaFFolQ",
      code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    },
  },
  updateMe: { renamed: { display_name: "Ada King" } },
  updateTeam: { limits: { settings: { concurrency_limit: 50 } } },
  sendFollowup: { message: { message: "Run the whole suite too, please." } },
  sendConversationFollowup: { message: { message: "Run the whole suite too, please." } },
  updateFollowup: { message: { message: "Run the unit tests only." } },
  prepareAttachments: { file: { files: [{ filename: "error.log", mime_type: "text/plain", size_bytes: 20480 }] } },
  prepareConversationAttachments: {
    file: { files: [{ filename: "error.log", mime_type: "text/plain", size_bytes: 20480 }] },
  },
  downloadAttachments: { one: { attachment_ids: ["0199a3c4-0000-7000-8000-000000000001"] } },
  createClientEvent: {
    started: {
      event_uuid: "4f2d6a18-93c7-8b5e-a1f0-6c7d8e9fa0b1",
      event_name: "agent_started",
      timestamp: "2026-05-18T19:00:01.240Z",
    },
  },
  createSchedule: {
    nightly: {
      name: "Nightly dependency updates",
      cron_schedule: "0 3 * * MON-FRI",
      prompt: "Update the dependencies and open a pull request.",
      time_zone: "Europe/Zurich",
      overlap: "skip",
    },
  },
  createIdentity: {
    bot: { name: "release-bot", description: "Cuts releases.", prompt: "Be brief.", base_model: "local/runbook" },
  },
  createTrustRule: { github: GITHUB_RULE },
  updateTrustRule: { github: GITHUB_RULE },
  createToken: { github: { token: "eyJhbGciOiJSUzI1NiIsImtpZCI6…" } },
  updateIdentity: { renamed: { name: "release-bot-2", description: "" } },
  appendMessages: {
    words: {
      execution_id: "0199a3c4-9a02-7b10-8c3d-5e7f9a1b2c3d",
      first_sequence: 1,
      messages: [{ role: "assistant", content: [{ type: "text", text: "I will read the test first." }] }],
    },
  },
  recordLiveOutput: {
    line: {
      execution_id: "0199a3c4-9a02-7b10-8c3d-5e7f9a1b2c3d",
      frames: [{ action_id: "action-1", stream: "stdout", offset: 0, text: "line 1\n" }],
    },
  },
  "listEvents.200": {
    live: {
      events: [
        { sequence: 1, type: "run_created", occurred_at: "2026-05-18T19:00:00.000Z", data: { state: "QUEUED" } },
      ],
      next: 1,
      ended: false,
      live: [{ action_id: "action-1", stream: "stdout", offset: 0, text: "line 1\n" }],
      live_next: "W10",
    },
  },
  "getRunConversation.200": {
    turn: {
      conversation_id: "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
      steps: [
        {
          id: "step-1",
          messages: [
            { role: "user", content: [{ type: "text", text: "Say hello.\n\n```sh\necho hello\n```" }] },
            {
              role: "assistant",
              content: [
                {
                  type: "action",
                  id: "action-1",
                  category: "command",
                  name: "run_command",
                  input: { command: "echo hello" },
                },
              ],
            },
            {
              role: "tool",
              content: [
                {
                  type: "action_result",
                  action_id: "action-1",
                  category: "command",
                  name: "run_command",
                  state: "completed",
                  output: { exit_code: 0, output: "hello\n" },
                },
              ],
            },
          ],
          steps: [],
        },
      ],
    },
  },
};
