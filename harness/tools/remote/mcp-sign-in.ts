import { SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { listReferences } from "./mcp-settings.ts";

/** Says how to sign in, if an error means that a remote server refuses the token. Any other error stays as it is. */
export function explainRefusal(
  error: unknown,
  url: string | undefined,
  headers: Readonly<Record<string, string>> = {},
  findProblem: (name: string) => string | undefined = () => undefined,
): unknown {
  const isRefused = (error instanceof StreamableHTTPError || error instanceof SseError) && error.code === 401;
  if (!isRefused || url === undefined) return error;
  const tokens = Object.entries(headers).flatMap(([header, value]) =>
    listReferences(value).map((name) => ({ header, name })),
  );
  const used = tokens.find(({ header }) => header.toLowerCase() === "authorization") ?? tokens[0];
  const server = new URL(url).host;
  if (used === undefined)
    return new Error(
      `${server} requires a sign-in (401): run \`runyard mcp login\` with its URL and --secret NAME, add the secret to the run, and set headers.authorization to "Bearer \${NAME}"`,
      { cause: error },
    );
  const problem = findProblem(used.name);
  if (problem !== undefined)
    return new Error(`${server} refuses the token of the secret ${used.name} (401): ${problem}`, { cause: error });
  return new Error(
    `${server} refuses the token of the secret ${used.name} (401): run \`runyard mcp refresh ${used.name}\`, or sign in again with \`runyard mcp login\`; the next execution uses the new token`,
    { cause: error },
  );
}
