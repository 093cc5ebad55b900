import { answerOf, parametersOf, resourcesOf } from "./emit-resources.ts";
import type { ClientMethod } from "./methods.ts";

/** What the client adds to the operations: kept by hand in src/resources. */
const HELPERS = [
  ["runs.events(runId, options?: FollowOptions)", "AsyncGenerator<RunEvent>", "Follows a run's events as they happen."],
  ["runs.followUntilDone(runId, options?: FollowUntilDoneOptions)", "Promise<RunItem>", "Follows a run to its end."],
  [
    "runs.createAndWait(body: RunAgentRequest, options?: FollowUntilDoneOptions)",
    "Promise<RunItem>",
    "Creates a run and follows it to its end.",
  ],
  ["runs.downloadTranscript(runId, options?)", "Promise<Response>", "The raw transcript as a stream."],
  ["artifacts.download(artifactUid, options?)", "Promise<Response>", "What an artifact holds, as a stream."],
  ["attachments.upload(upload: Upload, options?)", "Promise<string>", "Uploads a file, and answers its attachment_id."],
  ["withOptions(options: ClientOptions)", "Runyard", "Another client, made as this one but for these options."],
  ["request(request: APIRequest)", "APIPromise<T>", "Calls what has no method."],
] as const;

/** api.md: every method, by resource. */
export function emitApiPage(methods: readonly ClientMethod[]): string {
  const sections = [...resourcesOf(methods)].map(([resource, own]) =>
    [`## client.${resource}`, "", ...own.map((method) => describeMethod(resource, method)), ""].join("\n"),
  );
  const helpers = HELPERS.map(([call, answer, text]) => `- \`client.${call}\` → \`${answer}\`<br>${text}`);
  return [
    "# The methods of the client",
    "",
    "Made by `npm run clients:generate`. Each method takes `options?: RequestOptions` last, and has a request and an answer of the",
    "types named here; the package exports them all.",
    "",
    "## Beyond single calls",
    "",
    ...helpers,
    "",
    sections.join("\n"),
  ].join("\n");
}

function describeMethod(resource: string, method: ClientMethod): string {
  const parameters = parametersOf(method).map((parameter) => parameter.replace("?: RequestOptions", "?"));
  const { operation, name } = method;
  const call = `client.${resource}.${name}(${parameters.join(", ")})`;
  return `- \`${call}\` → \`${answerOf(method)}\`<br>\`${operation.method} ${operation.path}\` ${operation.summary}`;
}
