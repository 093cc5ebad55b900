const { createHmac, timingSafeEqual } = require("node:crypto");

const TOLERANCE_SECONDS = 300;
const MAX_TEXT = 1000;

/** Whether a request is signed with a secret of the webhook, by Standard Webhooks: see docs/webhooks.md. */
function isGenuine(headers, body, secret, now = Date.now()) {
  const { "webhook-id": id, "webhook-timestamp": time = "", "webhook-signature": signatures = "" } = headers;
  if (!/^\d{1,12}$/.test(time) || Math.abs(now / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length === 0) return false;
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  return signatures.split(" ").some((one) => {
    const found = Buffer.from(one.startsWith("v1,") ? one.slice(3) : "", "base64");
    return found.length === expected.length && timingSafeEqual(found, expected);
  });
}

/** A text of people or agents on one line, which can be part of a header. */
const toLine = (text) =>
  String(text ?? "")
    .replace(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT);

/** The subject and the text of a mail about an event. */
function toMail({ type, timestamp, data }) {
  const { title, state, session_link: link, event } = data;
  const { reason, paused, missed, scheduled_at: due, run_id: run } = event;
  const words = type.replaceAll("_", " ");
  const what = `${words[0].toUpperCase()}${words.slice(1)}${paused ? ", and paused" : ""}`;
  const rows = [
    ["Reason", reason],
    ["State", state],
    ["Due at", due],
    ["Missed", missed],
    ["Run", link ?? data.run_id ?? run],
    ["Trigger", data.trigger_uid],
    ["Schedule", data.schedule_id],
    ["Time", timestamp],
  ].filter(([, value]) => value !== undefined);
  const text = rows.map(([name, value]) => `${name}: ${toLine(value)}`).join("\n");
  return {
    subject: toLine(`[Runyard] ${what}: ${title}`).slice(0, 200),
    text: `${what}: ${toLine(title)}\n\n${text}\n`,
  };
}

/** AWS Lambda behind a function URL: sends the mail by Amazon SES. A response other than 2xx is attempted again later. */
async function handler({ headers, body = "", isBase64Encoded = false }) {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (!isGenuine(headers, bytes, process.env.WEBHOOK_SECRET ?? "")) return { statusCode: 401 };
  const { subject, text } = toMail(JSON.parse(bytes.toString("utf8")));
  const { SESv2Client, SendEmailCommand } = require("@aws-sdk/client-sesv2");
  const content = { Subject: { Data: subject }, Body: { Text: { Data: text } } };
  const destination = { ToAddresses: process.env.MAIL_TO.split(",") };
  const mail = { FromEmailAddress: process.env.MAIL_FROM, Destination: destination, Content: { Simple: content } };
  await new SESv2Client({}).send(new SendEmailCommand(mail));
  return { statusCode: 204 };
}

module.exports = { handler, isGenuine, toMail };
