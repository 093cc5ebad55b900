import * as v from "valibot";
import { ACCOUNT, REGION } from "./account.ts";
import { type EmulatorAccess, KEY_HEADER } from "./emulator-access.ts";

/** Wakes a function without waiting for it. */
export async function wakeFunction(
  access: EmulatorAccess,
  name: string,
  event: Record<string, unknown>,
): Promise<void> {
  await fetch(`${access.endpoint}/2015-03-31/functions/${name}/invocations`, {
    method: "POST",
    headers: { "x-amz-invocation-type": "Event", ...credentialsFor("lambda", access) },
    body: JSON.stringify(event),
    signal: AbortSignal.timeout(10_000),
  }).then((response) => response.body?.cancel());
}

/**
 * Calls one operation of a JSON service of the emulator without an SDK. The emulator reads the service's name from the
 * credential scope.
 */
export async function callEmulator(
  access: EmulatorAccess,
  service: "ssm" | "sqs" | "logs",
  target: string,
  input: Record<string, unknown>,
): Promise<{ ok: boolean; body: unknown }> {
  const response = await fetch(access.endpoint, {
    method: "POST",
    headers: {
      "content-type": `application/x-amz-json-${service === "sqs" ? "1.0" : "1.1"}`,
      "x-amz-target": target,
      ...credentialsFor(service, access),
    },
    body: JSON.stringify(input),
    signal: AbortSignal.timeout(10_000),
  });
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson()), await response.text());
  return { ok: response.ok, body: parsed.success ? parsed.output : undefined };
}

const Parameter = v.object({ Parameter: v.object({ Value: v.string() }) });

/** Reads a note that the emulator stores with its state, so that both are always of the same moment. */
export async function readNote(access: EmulatorAccess, name: string): Promise<string | undefined> {
  const { ok, body } = await callEmulator(access, "ssm", "AmazonSSM.GetParameter", { Name: name });
  const parsed = v.safeParse(Parameter, body);
  return ok && parsed.success ? parsed.output.Parameter.Value : undefined;
}

export async function writeNote(access: EmulatorAccess, name: string, value: string): Promise<void> {
  const { ok } = await callEmulator(access, "ssm", "AmazonSSM.PutParameter", {
    Name: name,
    Value: value,
    Type: "String",
    Overwrite: true,
  });
  if (!ok) throw new Error(`the emulator did not keep the note ${name}`);
}

/** Sends a message to a queue of the emulator. */
export async function sendToQueue(access: EmulatorAccess, queue: string, message: string): Promise<void> {
  const input = { QueueUrl: `${access.endpoint}/${ACCOUNT}/${queue}`, MessageBody: message };
  const { ok, body } = await callEmulator(access, "sqs", "AmazonSQS.SendMessage", input);
  if (!ok) throw new Error(`the emulator refused a message to ${queue}: ${JSON.stringify(body)}`);
}

const credentialsFor = (service: string, { secretKey }: EmulatorAccess) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${ACCOUNT}/20260101/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
  [KEY_HEADER]: secretKey,
});
