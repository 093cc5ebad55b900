import { ids, type Notes, note, person, time } from "./note.ts";

/** Members of runs. */
export const RUNS_NOTES: Notes = {
  run_id: note("The run's id.", ids.run),
  task_id: note("The same value as `run_id`, for older clients.", ids.run),
  title: note(
    "The run's title, at most 512 characters. Defaults to the first line of the prompt.",
    "Fix the flaky checkout test",
  ),
  prompt: note(
    "The task of the run. Required unless the request has a skill or a `conversation_id`.",
    "Find out why checkout.test.ts fails intermittently, and fix it.",
  ),
  "RunItem.prompt": note(
    "The task of the run. Lists truncate it to 1,000 characters.",
    "Find out why checkout.test.ts fails intermittently, and fix it.",
  ),
  submitted_prompt: note(
    "The prompt, with the follow-ups that were sent before the run started, separated by blank lines. Lists truncate it to 1,000 characters.",
    "Find out why checkout.test.ts fails intermittently, and fix it.",
  ),
  state: note("The run's current state.", "SUCCEEDED"),
  "RunAgentResponse.state": note("The run's current state; `QUEUED` for a new run.", "QUEUED"),
  would_start: note("Whether the run would be created: there is no finding of severity `error`.", true),
  findings: note("What to know before the run is created: errors first, in the order of the checks."),
  severity: note(
    "`error` refuses the run, `warning` delays it or lets it fail, `info` has no effect on its outcome.",
    "warning",
  ),
  "Finding.code": note(
    "The `error_code` that the request would be refused with, or the name of another finding.",
    "worker_not_connected",
  ),
  "Finding.message": note(
    "What was found, with the member of the request that it is about.",
    "config.worker_host: no worker rack-7 is connected; the run would stay queued until one is",
  ),
  remedy: note("What to do about it.", "Start the worker with the id rack-7."),
  resolved_config: note(
    "The configuration that the run would have, with all defaults applied. Absent if the request would be refused.",
    { model_id: "local/runbook", name: "checkout" },
  ),
  estimated_cost_usd: note(
    "The maximum cost of the run's model calls in US dollars: its own `budget_usd`. Absent for a run without one.",
    2.5,
  ),
  created_at: time("The time of creation."),
  updated_at: time(
    "The time of the latest change. For runs: of the state, follow-ups and artifacts.",
    "2026-05-18T19:04:12.518Z",
  ),
  finished_at: time("The time of the run's end. Null before a run has ended.", "2026-05-18T19:04:12.518Z"),
  root_run_id: note("The root of the run's tree: the run itself, unless it is a child run."),
  archived: note("Whether the list of runs leaves the run out unless the filter `archived` asks for it.", false),
  pending_followups: note("The number of follow-ups that the agent has not stored yet.", 0),
  started_at: time("The start time. Null before a run has started.", "2026-05-18T19:00:01.240Z"),
  completed_at: time("The end time. Absent until the turn has ended.", "2026-05-18T19:04:12.518Z"),
  status_message: note(
    "The reason for the run's final state. For `BLOCKED`, the agent's question. For `CANCELLED`, who cancelled the run.",
  ),
  "RunItem.approval": note("The call that the run waits for, if `waiting_for` is `approval`."),
  approval_id: note("The id of the request, for `approve` or `deny` of a follow-up.", "approval-12"),
  "Approval.tool": note("The tool.", "run_command"),
  "Approval.arguments": note(
    "The arguments as JSON, up to 4,096 characters. The conversation has them whole.",
    '{"command":"terraform apply"}',
  ),
  "Approval.action_id": note("The id of the call in the conversation."),
  approve: note(
    "The `approval_id` of the call that the run waits for: carries out exactly this call, once. Needs a person's key or session. Excludes `deny`.",
    "approval-12",
  ),
  deny: note(
    "The `approval_id` of the call that the run waits for: the agent learns who denied it, with `message` as the reason. Needs a person's key or session.",
    "approval-12",
  ),
  waiting_for: note(
    "What a `BLOCKED` run waits for: the `answer` to the agent's question, an `approval`, or any `followup`.",
    "answer",
  ),
  "RunStatusMessage.message": note(
    "One sentence of at most 1,024 characters, without secrets.",
    "npm test ended with exit code 1",
  ),
  "RunStatusMessage.error_code": note("The error code, if the run failed.", "environment_setup_failed"),
  "RunStatusMessage.retryable": note("Whether the same run may succeed later.", false),
  source: note("The source of the run.", "API"),
  execution_location: note(
    "`REMOTE` (default) executes the run in a sandbox of the service or on a worker; `LOCAL` leaves it to the caller.",
    "REMOTE",
  ),
  schedule: note("The schedule that created the run. Absent for other runs."),
  schedule_id: note("The schedule's id.", ids.schedule),
  trigger_id: note("The trigger's id."),
  automation_id: note("The uid of a trigger, or the value of the metadata key `automation_id`."),
  schedule_name: note("The schedule's name at the time of the firing.", "Nightly dependency updates"),
  session_id: note("The id of the run's session."),
  "PublicArtifact.artifact_uid": note(
    "The artifact's id, by which it is downloaded. Absent if it has none.",
    ids.artifact,
  ),
  "ShareRunRequest.public_access": note(
    "The access of anyone with the link. Null: nobody but the run's owner sees it.",
    "VIEWER",
  ),
  "ShareRunResponse.session_link": note(
    "The URL of the run's public view. Absent if the run is not shared, or the deployment has no web app.",
  ),
  session_link: note("The URL of the run's page in the web app. Absent if the deployment has no web app."),
  trigger_url: note("The URL of the event that triggered the run. Set by integrations."),
  creator: note("The person or identity that created the run.", person),
  executor: note("The person or identity that the run acts as. Defaults to the creator.", person),
  request_usage: note("The run's usage so far."),
  inference_cost: note("The cost of model calls, in US dollars.", 0.42),
  compute_cost: note("The cost of compute, in US dollars.", 0.01),
  platform_cost: note("The platform fee, in US dollars.", 0),
  inference_cost_usd: note("The cost of model calls, in US dollars; the same as `inference_cost`.", 0.42),
  compute_cost_usd: note("The cost of compute, in US dollars. Absent where it is not known.", 0.01),
  platform_cost_usd: note("The platform fee, in US dollars. Absent where there is none.", 0),
  input_tokens: note("The number of input tokens, including those that a cache was read or written for.", 180000),
  output_tokens: note("The number of output tokens.", 4203),
  cache_read_tokens: note("The number of input tokens read from the cache of a provider.", 120000),
  cache_write_tokens: note("The number of input tokens written to the cache of a provider.", 20000),
  model_token_usage: note(
    "The tokens of each model. Calls before the upgrade to the release that counts them are not included.",
  ),
  usage_type: note(
    "`byok` for a key of the team or the run, `custom_endpoint` for a compatible server. Absent for the key of the deployment.",
  ),
  tokens_by_category: note(
    "The tokens by category. Each token is in one: `input` was neither read from nor written to a cache.",
    {
      input: 40000,
      output: 4203,
      cache_read: 120000,
      cache_write: 20000,
    },
  ),
  tree: note("The usage of the run and of all its descendants. Only in the response for a single run."),
  "tree.cost_usd": note("The cost of their model calls, in US dollars.", 1.2),
  "tree.total_tokens": note("The number of their input and output tokens.", 500000),
  "tree.runs": note("The number of runs, this one included.", 4),
  total_tokens: note("The number of input and output tokens of all models.", 184203),
  agent_config: note("The resolved configuration, with all defaults applied.", {
    model_id: "local/runbook",
    name: "checkout",
  }),
  config: note("The configuration of the agent.", { model_id: "local/runbook", name: "checkout" }),
  agent_skill: note("The skill that the run started from."),
  "agent_skill.name": note("The skill's name."),
  "agent_skill.description": note("The skill's description of itself."),
  full_path: note("The path of the skill's file in its repository."),
  bundled_skill_id: note("The skill's id, if the service provides it."),
  conversation_id: note("The conversation's id.", ids.conversation),
  "RunAgentRequest.conversation_id": note(
    "The conversation to continue. All of its runs have one owner. If its latest run has not ended, the response is 409.",
    ids.conversation,
  ),
  parent_run_id: note("The run's parent. The depth of a run tree is at most 10."),
  is_sandbox_running: note("Whether a sandbox is executing the run.", false),
  is_run_type_cancellable: note(
    "Whether the run can be cancelled without `force`. False for runs of self-hosted workers and `LOCAL` runs.",
    true,
  ),
  run_time: note("The total execution time, as an ISO 8601 duration.", "PT4M11S"),
  metadata: note("Labels to find the run by: at most 20 keys, with values of at most 256 bytes.", {
    ticket: "SHOP-1412",
  }),
  artifacts: note("The run's artifacts, oldest first."),
  scope: note("The owner.", { type: "Team", uid: ids.team }),
  "scope.type": note("`Team` for a team's resource, `User` for a personal one.", "Team"),
  "scope.uid": note("The id of the team or the person.", ids.team),
  at_capacity: note("True if the run waits because its team has reached its `concurrency_limit`."),
  notify_url: note(
    "Where each event that ends the run is sent, as webhooks get it; also its later ends, after follow-ups. Child runs do not inherit it, a run's key cannot set it, and no response shows it.",
    "https://hooks.example.com/ended",
  ),
  notify_secret: note(
    "The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in its repeats.",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  ),
  run_key: note("The run's API key, returned once. Present for `LOCAL` runs only."),
  skill: note("The skill to start from. Overrides `config.skill_spec`.", "acme/shop:fix-flaky-tests"),
  team: note(
    "Whether the team owns it. Defaults to true if the caller has a team; agent keys cannot set it to false.",
    true,
  ),
  "RunAgentRequest.team": note(
    "Whether the team owns it. Defaults to the owner of `conversation_id` if that is given, and otherwise to true if the caller has a team; agent keys cannot set it to false.",
    true,
  ),
  agent_identity_uid: note("The identity that executes the run. For team runs only."),
  interactive: note(
    "Whether the run waits for a follow-up after each turn, for `idle_timeout_minutes`. Defaults to false.",
    false,
  ),
  mode: note(
    "`normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs.",
    "normal",
  ),
  on_behalf_of: note(
    "The uid or email address of the member to act for. Requires an agent key whose identity has `on_behalf_of_enabled`.",
  ),
  attachments: note(
    "At most 5 files. Inline files can have 2.9 MiB in total after decoding; upload larger ones with `POST /agent/attachments`.",
  ),
  "PrepareAttachmentsRequest.files": note(
    "The files to upload, 1 to 25. Required unless the request has `attachments`.",
  ),
  "PrepareAttachmentsRequest.attachments": note("Another name of `files`, whose items then have `file_name`."),
  "files.filename": note("The name that the agent sees, unless the follow-up names another one.", "error.log"),
  "PrepareAttachmentsResponse.attachments": note("The prepared attachments, in the order of the request."),
  upload_url: note(
    "The URL for the file: a `PUT` with the file as body and its `mime_type` as `Content-Type`.",
    "https://files.example.com/attachments/0199a3c4?signature=5d41402a",
  ),
  upload_target: note("Where to upload the file. With `size_bytes` and `sha256`, storage accepts these bytes only."),
  attachment_ids: note("The ids of the attachments, at most 100."),
  "DownloadAttachmentsResponse.attachments": note("The attachments with their URLs, in the order of the request."),
  "HandoffAttachments.attachments": note("The files of the snapshot."),
  images: note("An older form of `attachments`, for images."),
  file_name: note("The file's name, without directories.", "trace.log"),
  attachment_id: note("The attachment's id.", "0199a3c4-2b3c-7d4e-8f50-6a7b8c9d0e1f"),
  "RunAgentRequest.attachment_id": note("The id of an uploaded attachment."),
  "RunAgentRequest.data": note("The file's content in base64.", "aGVsbG8K"),

  // Cancelling several runs
  "CancelRunsRequest.filter": note("The runs to cancel. Takes the filters of `GET /agent/runs`, at least one."),
  "CancelRunsRequest.force": note(
    "Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well. Defaults to false.",
  ),
  "CancelRunsResponse.matched": note("The number of active runs that matched the filter."),
  "CancelRunsResponse.cancelled": note("The number of runs that were cancelled."),
  "CancelRunsResponse.refused": note("The runs that could not be cancelled."),
  "refused.error_code": note("The error code that cancelling this run returns.", "conflict"),
  "CancelRunsResponse.has_more": note("Whether more runs may match. If true, send the request again."),

  // Follow-ups
  "Followup.message": note("The message to the agent.", "Run the whole suite too, please."),
  "RunFollowupRequest.message": note(
    "The message to the agent. Optional with attachments, and if the run has ended, to continue where it stopped.",
    "Run the whole suite too.",
  ),
  "RunFollowupRequest.mode": note(
    "The mode of the next execution. Ignored by an active run. Defaults to the run's mode.",
  ),
  policy: note(
    "`enqueue` (default) waits for the current turn, `interrupt` stops it, `reject` returns 409 unless the run has ended.",
    "enqueue",
  ),

  "RunFollowupRequest.attachments": note(
    "Files for the agent: prepared and uploaded for this run, or by the caller with `POST /agent/attachments`.",
    [],
  ),
  followup_id: note("The follow-up's id within its run.", "followup-1"),
  outcome: note(
    "What becomes of the follow-up. `queue_pending`: it waits behind another one, or for capacity; `queued_prompt`: the agent gets it with its first turn; `live_session`: the running agent gets it; `handoff_execution`: a new execution continues the ended run.",
    "live_session",
  ),
  followups: note("The follow-ups in the order of their delivery."),
  "UpdateFollowupRequest.message": note("The new message to the agent.", "Run the unit tests only."),
  "FollowupItem.message": note("The message to the agent.", "Run the whole suite too, please."),
  "FollowupItem.attachments": note("The files that the agent gets with the message.", []),
  "FollowupItem.mode": note("The mode that the follow-up requested, if it did."),
  "FollowupItem.created_by": note("Who sent the follow-up. Absent in follow-ups that earlier versions stored."),
  "FollowupItem.state": note(
    "`pending` until the agent takes it, then `delivered`; `removed` if it was deleted, or the run was cancelled, before.",
    "pending",
  ),

  // Pages
  "ListRunsResponse.runs": note("One page of runs."),
  page_info: note("The position of the page in the list."),
  has_next_page: note("Whether there is another page.", false),
  next_cursor: note("The `cursor` of the next page. Absent on the last page."),
};
