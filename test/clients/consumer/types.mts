// What a reader of the types relies on: it compiles, and each line behind @ts-expect-error would not.
import { APIError, type ListRunsResponse, type Page, type RunItem, type RunState, Runyard } from "runyard";

const client = new Runyard({ apiKey: async () => "ryp_x", baseURL: "https://example.com/api/v1", timeout: 1000 });

export async function types(): Promise<RunState[]> {
  const { run_id } = await client.runs.create({ prompt: "x", config: { model_id: "m" }, metadata: { a: "b" } });
  const run: RunItem = await client.runs.retrieve(run_id, { timeout: 5, signal: AbortSignal.timeout(5) });
  const page: Page<RunItem, ListRunsResponse> = await client.runs.list({ state: ["QUEUED"], metadata: { a: "b" } });
  const { response } = await client.runs.cancel(run_id, { force: true }).withResponse();
  const stream: ReadableStream<Uint8Array> | null = (await client.runs.downloadTranscript(run_id)).body;
  await client.identities.keys.delete("i", "k");
  for await (const event of client.runs.events(run_id)) if (event.type === "messages") break;
  // @ts-expect-error: there is no such member.
  await client.runs.create({ promt: "x" });
  // @ts-expect-error: there is no such state.
  await client.runs.list({ state: ["DONE"] });
  // @ts-expect-error: an id is a string.
  await client.runs.retrieve(7);
  // @ts-expect-error: there is no such filter.
  client.runs.list({ stat: "QUEUED" });
  const error: unknown = [response, stream];
  if (error instanceof APIError && error.errors.length > 0) throw error;
  return [run.state, ...page.data.map(({ state }) => state)];
}
