import type { Json } from "../json.ts";
import { ids, person, type Samples, TIME } from "./values.ts";

const verification = { scheme: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=", encoding: "hex" };
const prompt = "Look into the failed build {{ event.payload.build }}.";
const scopes = ["runs:read"];

/** A member of a trigger, in each of the components that have it. */
const inAll = (member: string, sample: Json): Samples =>
  Object.fromEntries(
    ["TriggerItem", "CreatedTrigger", "RotatedTrigger", "CreateTriggerRequest", "UpdateTriggerRequest"].map(
      (component) => [`${component}.${member}`, sample],
    ),
  );

/** A member of a delivery, alone and with its payload. */
const inDeliveries = (member: string, sample: Json): Samples => ({
  [`TriggerDelivery.${member}`]: sample,
  [`TriggerDeliveryDetails.${member}`]: sample,
});

/** Members of triggers and their deliveries. */
export const TRIGGERS_SAMPLES: Samples = {
  ...inDeliveries("will_retry", true),
  ...inAll("uid", ids.identity),
  ...inAll("name", "failed builds"),
  ...inAll("kind", "webhook"),
  ...inAll("preset", "sentry"),
  ...inAll("followup_prompt", "{{ event.author.name }}: {{ event.text }}"),
  ...inAll("threads", "continue"),
  ...inAll("busy", "enqueue"),
  "TriggerAuthors.bots": ["dependabot[bot]"],
  "TriggerAuthors.anyone": false,
  ...inAll("enabled", true),
  ...inAll("prompt", prompt),
  ...inAll("events", ["build.failed"]),
  ...inAll("filter", 'event.payload.branch == "main"'),
  ...inAll("thread_key", "event.payload.ticket"),
  ...inAll("agent_uid", ids.identity),
  ...inAll("mode", "normal"),
  ...inAll("metadata", { app: "shop" }),
  ...inAll("verification", verification),
  ...inAll("secret", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"),
  ...inAll("created_by", person),
  ingress_url: `https://runyard.example.com/api/v1/hooks/${ids.identity}`,
  delivery_id: ids.run,
  external_id: "msg_2Kd0",
  ...inDeliveries("event_type", "build"),
  ...inDeliveries("action", "failed"),
  received_at: TIME,
  ...inDeliveries("attempts", 1),
  ...inDeliveries("outcome", "started"),
  ...inDeliveries("reason", "event"),
  ...inDeliveries("run_id", ids.run),
  ...inDeliveries("followup_id", "followup-1"),
  ...inDeliveries("redelivery_of", ids.run),
  "TriggerDeliveryDetails.payload": { build: "shop-42" },
  "LastDelivery.at": TIME,
  "LastDelivery.outcome": "started",
  "DeliveryCounts.started": 3,
  "DeliveryCounts.followed_up": 2,
  "DeliveryCounts.ignored": 5,
  "DeliveryCounts.duplicate": 1,
  "DeliveryCounts.failed": 0,
  ...inDeliveries("of", ids.run),
  missing_values: ["event.payload.branch"],
  "TestTriggerRequest.headers": {
    "X-GitHub-Event": "workflow_run",
  },
  "TestTriggerRequest.payload": { type: "build.failed", build: "shop-42" },
  "TestTriggerRequest.prompt": prompt,
  "TestTriggerResponse.outcome": "started",
  "TestTriggerResponse.reason": "event",
  "TestTriggerResponse.prompt": "Look into the failed build shop-42.",
  "TriggerEvent.type": "issue_comment",
  "TriggerEvent.action": "created",
  "TriggerEvent.text": "@runyard fix this",
  "EventAuthor.id": "21031067",
  "EventAuthor.name": "octocat",
  "EventAuthor.kind": "person",
  "TriggerEvent.repository": "octo-org/shop",
  "TriggerEvent.thread": "octo-org/shop#42",
  "McpMessage.jsonrpc": "2.0",
  "McpMessage.id": 1,
  "McpMessage.method": "tools/list",
  "McpMessage.params": {},
  "McpResponse.jsonrpc": "2.0",
  "McpResponse.id": 1,
  "McpResponse.result": { tools: [] },
  "McpResponse.error.code": -32601,
  "TriggerEvent.payload": { build: "shop-42" },
  "TestTriggerResponse.run_request.title": "failed builds",
  "TestTriggerResponse.run_request.mode": "normal",
  "TestTriggerResponse.run_request.metadata": { app: "shop" },
  "CreatedTrigger.scopes": scopes,
  "RotatedTrigger.scopes": scopes,
  "TriggerVerification.scheme": "hmac",
  "TriggerVerification.header": "X-Hub-Signature-256",
  "TriggerVerification.prefix": "sha256=",
  "TriggerVerification.encoding": "hex",
  "TriggerVerification.timestamp_header": "X-Timestamp",
};
