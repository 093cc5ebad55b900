import { ids, type Notes, note, person, time } from "./note.ts";

const verification = { scheme: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=", encoding: "hex" };
const prompt = "Look into the failed build {{ event.payload.build }}.";

/** A member of a trigger, in each of the components that have it. */
const inAll = (member: string, description: string, sample?: Parameters<typeof note>[1]): Notes =>
  Object.fromEntries(
    ["TriggerItem", "CreatedTrigger", "CreateTriggerRequest", "UpdateTriggerRequest"].map((component) => [
      `${component}.${member}`,
      note(description, sample),
    ]),
  );

/** Descriptions of the members of triggers and their deliveries. */
export const TRIGGER_NOTES: Notes = {
  triggers: note("The triggers, oldest first."),
  ...inAll("uid", "The trigger's id.", ids.identity),
  ...inAll("name", "A name for people, which is the title of the runs.", "failed builds"),
  ...inAll("kind", "The system that sends the events.", "webhook"),
  ...inAll("enabled", "Whether events start runs. Defaults to true.", true),
  ...inAll("prompt", "The template of the prompts, at most 8 KiB.", prompt),
  ...inAll("events", "The types of events that start runs, such as `build` or `build.failed`. Absent for all.", [
    "build.failed",
  ]),
  ...inAll("agent_uid", "The identity that executes the runs. By default the trigger's creator does.", ids.identity),
  ...inAll("mode", "The mode of the runs.", "normal"),
  ...inAll("metadata", "The labels of the runs, at most 18.", { app: "shop" }),
  ...inAll("verification", "How the sender's requests are verified. Standard Webhooks by default.", verification),
  ...inAll("secret", "The secret, returned once.", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"),
  ...inAll("created_by", "The person who created the trigger, and in whose name its runs are created.", person),
  ingress_url: note(
    "Where the other system sends its events.",
    `https://runyard.example.com/api/v1/hooks/${ids.identity}`,
  ),
  "ListTriggerDeliveriesResponse.deliveries": note("The deliveries, newest first."),
  delivery_id: note("The delivery's id.", ids.run),
  external_id: note("The id that the sender has for the event.", "msg_2Kd0"),
  "TriggerDelivery.event_type": note("The type of the event.", "build"),
  "TriggerDelivery.action": note("The action of the event.", "failed"),
  received_at: time("The time of the request."),
  "TriggerDelivery.attempts": note("The number of attempts to process it.", 1),
  "TriggerDelivery.outcome": note("What the delivery resulted in.", "started"),
  "TriggerDelivery.reason": note("Why it was ignored: the type of the event, or a disabled trigger.", "event"),
  "TriggerDelivery.detail": note("Why no run could be started."),
  "TriggerDelivery.run_id": note("The id of the run that it started.", ids.run),
  "TriggerDelivery.of": note("The id of the delivery that it repeats.", ids.run),
  missing_values: note("The values of the template that the event does not have.", ["event.payload.branch"]),
  "TriggerVerification.scheme": note("How a request proves who sent it.", "hmac"),
  "TriggerVerification.header": note("The header with the signature. Required by `hmac`.", "X-Hub-Signature-256"),
  "TriggerVerification.prefix": note("What precedes the signature in its header.", "sha256="),
  "TriggerVerification.encoding": note("The encoding of the signature. Defaults to `hex`.", "hex"),
  "TriggerVerification.timestamp_header": note(
    "The header with the time in seconds, if `{time}.{body}` is signed instead of the body. It may differ by 5 minutes.",
    "X-Timestamp",
  ),
};
