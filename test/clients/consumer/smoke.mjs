// What a program of any runtime does with the installed package. It answers what it saw, for the test to compare.
import { NotFoundError, Runyard } from "runyard";

export async function smoke(baseURL) {
  const client = new Runyard({ baseURL, apiKey: "ryp_smoke" });
  const ids = [];
  for await (const { run_id } of client.runs.list({ state: ["QUEUED", "PENDING"] })) ids.push(run_id);

  const { data, response } = await client.runs.create({ prompt: "Say hello." }).withResponse();

  const error = await client.runs.retrieve("missing").catch((caught) => caught);

  const sequences = [];
  for await (const { sequence } of client.runs.events("r1")) sequences.push(sequence);

  const transcript = await client.runs.downloadTranscript("r1");
  let bytes = 0;
  for (const reader = transcript.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
  }

  const attachment = await client.attachments.upload({ file_name: "a.txt", data: new Blob(["abc"]) });
  const redirected = await client.runs.retrieve("moved");

  const aborted = await client.models.list({ signal: AbortSignal.timeout(400) }).catch(({ name }) => name);

  return {
    ids,
    created: data.run_id,
    requestId: response.headers.get("x-request-id"),
    error: [error instanceof NotFoundError, error.name, error.errorCode],
    sequences,
    bytes,
    attachment,
    redirected: redirected.run_id,
    aborted,
  };
}
