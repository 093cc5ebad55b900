import { ids, type Notes, note, person, time } from "./note.ts";

const verification = { scheme: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=", encoding: "hex" };
const prompt = "Look into the failed build {{ event.payload.build }}.";
const scopes = note("What its runs may use their keys for. Absent where that is not limited.", ["runs:read"]);

/** A member of a trigger, in each of the components that have it. */
const inAll = (member: string, description: string, sample?: Parameters<typeof note>[1]): Notes =>
  Object.fromEntries(
    ["TriggerItem", "CreatedTrigger", "RotatedTrigger", "CreateTriggerRequest", "UpdateTriggerRequest"].map(
      (component) => [`${component}.${member}`, note(description, sample)],
    ),
  );

/** A member of a delivery, alone and with its payload. */
const inDeliveries = (member: string, description: string, sample?: Parameters<typeof note>[1]): Notes => ({
  [`TriggerDelivery.${member}`]: note(description, sample),
  [`TriggerDeliveryDetails.${member}`]: note(description, sample),
});

/** Descriptions of the members of triggers and their deliveries. */
export const TRIGGER_NOTES: Notes = {
  triggers: note("The triggers, oldest first."),
  ...inDeliveries("will_retry", "Whether the decision failed temporarily and is repeated, for 24 hours.", true),
  ...inAll("uid", "The trigger's id.", ids.identity),
  ...inAll("name", "A name for people, which is the title of the runs.", "failed builds"),
  ...inAll("kind", "The system that sends the events. `webhook` stands for all others.", "webhook"),
  ...inAll("preset", "The system whose verification and prompt a trigger of the kind `webhook` has.", "sentry"),
  ...inAll(
    "followup_prompt",
    "The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`.",
    "{{ event.author.name }}: {{ event.text }}",
  ),
  ...inAll(
    "threads",
    "Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).",
    "continue",
  ),
  ...inAll(
    "busy",
    "What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).",
    "enqueue",
  ),
  ...inAll("allow", "Who may start runs besides people whose write access is proved."),
  "TriggerAuthors.bots": note("The names of bots and applications that may start runs, at most 50.", [
    "dependabot[bot]",
  ]),
  "TriggerAuthors.anyone": note(
    "Whether every person may start runs, whatever their rights. Defaults to false.",
    false,
  ),
  ...inAll("enabled", "Whether events start runs. Defaults to true.", true),
  ...inAll("prompt", "The template of the prompts, at most 8 KiB. A preset has one.", prompt),
  ...inAll("events", "The types of events that start runs, such as `build` or `build.failed`. Absent for all.", [
    "build.failed",
  ]),
  ...inAll(
    "filter",
    "The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none.",
    'event.payload.branch == "main"',
  ),
  ...inAll(
    "thread_key",
    "The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread.",
    "event.payload.ticket",
  ),
  ...inAll("agent_uid", "The identity that executes the runs. By default the trigger's creator does.", ids.identity),
  ...inAll("mode", "The mode of the runs.", "normal"),
  ...inAll("metadata", "The labels of the runs, at most 18.", { app: "shop" }),
  ...inAll(
    "verification",
    "How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default.",
    verification,
  ),
  ...inAll("secret", "The secret, returned once.", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"),
  ...inAll("created_by", "The person who created the trigger, and in whose name its runs are created.", person),
  ingress_url: note(
    "Where the other system sends its events.",
    `https://runyard.example.com/api/v1/hooks/${ids.identity}`,
  ),
  "ListTriggerDeliveriesResponse.deliveries": note("The deliveries, newest first."),
  delivery_id: note("The delivery's id.", ids.run),
  external_id: note("The id that the sender has for the event.", "msg_2Kd0"),
  ...inDeliveries("event_type", "The type of the event.", "build"),
  ...inDeliveries("action", "The action of the event.", "failed"),
  received_at: time("The time of the request."),
  ...inDeliveries("attempts", "The number of attempts to process it.", 1),
  ...inDeliveries("outcome", "What the delivery resulted in.", "started"),
  ...inDeliveries(
    "reason",
    "Why it was ignored: the type of the event, its author, the filter, a disabled trigger, or an active run of its thread.",
    "event",
  ),
  ...inDeliveries("detail", "Why no run could be started."),
  ...inDeliveries("run_id", "The id of the run that it started or continued.", ids.run),
  ...inDeliveries("followup_id", "The id of the follow-up that it sent to the run `run_id`.", "followup-1"),
  ...inDeliveries("redelivery_of", "The id of the delivery whose event was delivered again on request.", ids.run),
  "TriggerDeliveryDetails.payload": note(
    "The JSON object of the event. Absent if it has more than 3.5 MB, or was received before this was stored.",
    { build: "shop-42" },
  ),
  ...inAll("last_delivery", "The latest delivery. Absent if there is none."),
  ...inAll("counts_24h", "The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger."),
  "LastDelivery.at": time("The time of the request."),
  "LastDelivery.outcome": note("What it resulted in.", "started"),
  "DeliveryCounts.started": note("Deliveries that started a run.", 3),
  "DeliveryCounts.followed_up": note("Deliveries that sent a follow-up.", 2),
  "DeliveryCounts.ignored": note("Deliveries that were ignored.", 5),
  "DeliveryCounts.duplicate": note("Deliveries that repeated another one.", 1),
  "DeliveryCounts.failed": note("Deliveries for which no run could be started.", 0),
  ...inDeliveries("of", "The id of the delivery that it repeats.", ids.run),
  missing_values: note("The values of the template that the event does not have.", ["event.payload.branch"]),
  "RotateTriggerSecretRequest.secret": note("The new secret, if the sender makes it. Generated by default."),
  "TestTriggerRequest.headers": note("The headers of the request, from which the type of the event is read.", {
    "X-GitHub-Event": "workflow_run",
  }),
  "TestTriggerRequest.payload": note("The JSON object of the event.", { type: "build.failed", build: "shop-42" }),
  "TestTriggerRequest.prompt": note("A template to test instead of the trigger's.", prompt),
  "TestTriggerResponse.outcome": note("What the event would result in.", "started"),
  "TestTriggerResponse.reason": note("Why it would be ignored.", "event"),
  "TestTriggerResponse.detail": note("Why no run could be created."),
  "TestTriggerResponse.prompt": note(
    "The template with the values of the event.",
    "Look into the failed build shop-42.",
  ),
  "TestTriggerResponse.event": note("The event as templates see it."),
  "TriggerEvent.type": note("The type of the event.", "issue_comment"),
  "TriggerEvent.action": note("The action of the event, empty if it has none.", "created"),
  "TriggerEvent.text": note("What was written, such as a comment. Empty if there is none.", "@runyard fix this"),
  "TriggerEvent.author": note("Who caused the event, which need not be the author of the text."),
  "EventAuthor.id": note("The account's id in the other system.", "21031067"),
  "EventAuthor.name": note("The account's name in the other system.", "octocat"),
  "EventAuthor.kind": note("The kind of the account.", "person"),
  "TriggerEvent.repository": note("The repository of the event.", "octo-org/shop"),
  "TriggerEvent.thread": note(
    "Equal for the events of one issue, pull request, ticket or conversation. Empty if there is none.",
    "octo-org/shop#42",
  ),
  "TriggerEvent.payload": note("The JSON object of the event.", { build: "shop-42" }),
  "McpMessage.jsonrpc": note("The version of JSON-RPC.", "2.0"),
  "McpMessage.id": note("The id of a request, which its response repeats. A notification has none.", 1),
  "McpMessage.method": note("What the client requests, such as `tools/list` or `tools/call`.", "tools/list"),
  "McpMessage.params": note("The arguments of the method.", {}),
  "McpMessage.result": note("The result of a response of the client, which is ignored."),
  "McpMessage.error": note("The error of a response of the client, which is ignored."),
  "McpResponse.jsonrpc": note("The version of JSON-RPC.", "2.0"),
  "McpResponse.id": note("The id of the request.", 1),
  "McpResponse.result": note("The result of the method.", { tools: [] }),
  "McpResponse.error": note("Why there is no result. Errors of tools are results with `isError`."),
  "McpResponse.error.code": note("The code of JSON-RPC.", -32601),
  "ReceivedDelivery.challenge": note("The text of Slack's question about a new URL. There is no delivery then."),
  "TestTriggerResponse.run_request": note("The run that would be created. Absent if none would be."),
  "TestTriggerResponse.run_request.title": note("The title of the run.", "failed builds"),
  "TestTriggerResponse.run_request.mode": note("The mode of the run.", "normal"),
  "TestTriggerResponse.run_request.metadata": note("The labels of the run.", { app: "shop" }),
  "TestTriggerResponse.run_request.config": note("The configuration of the run."),
  "CreatedTrigger.scopes": scopes,
  "RotatedTrigger.scopes": scopes,
  "TriggerVerification.scheme": note("How a request proves who sent it.", "hmac"),
  "TriggerVerification.header": note("The header with the signature. Required by `hmac`.", "X-Hub-Signature-256"),
  "TriggerVerification.prefix": note("What precedes the signature in its header.", "sha256="),
  "TriggerVerification.encoding": note("The encoding of the signature. Defaults to `hex`.", "hex"),
  "TriggerVerification.timestamp_header": note(
    "The header with the time in seconds, if `{time}.{body}` is signed instead of the body. It may differ by 5 minutes.",
    "X-Timestamp",
  ),
};
