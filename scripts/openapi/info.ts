import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root } from "../run-command.ts";

const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { version } = v.parse(v.object({ version: v.string() }), manifest);

/** The introduction of the document, which applies to all operations. */
export const INFO = {
  title: "Runyard",
  summary: "An HTTP API that runs cloud agents.",
  version,
  license: { name: "Apache 2.0", identifier: "Apache-2.0" },
  description: `Create a run with a prompt, then follow, steer and read it while an agent executes it in a sandbox.

## Requests
Send JSON in \`snake_case\` and UTF-8, at most 4 MiB, with \`Authorization: Bearer <key>\` and \`Content-Type: application/json\`.
The service ignores unknown members and query parameters. Wrong types and values return 400. Repeat a query parameter to pass several values
(\`state=QUEUED&state=PENDING\`); an empty value counts as absent. Strings must not contain NUL or lone surrogates.

## Responses
Times are RFC 3339 in UTC with milliseconds. Ids are opaque strings. Optional members without a value are absent. New members and new enum
values can be added at any time: ignore unknown ones.

## Errors
Every error is \`application/problem+json\` (RFC 9457). \`error_code\` is one of a closed list, and \`type\` is the URL of its
documentation. \`retryable\` and the header \`x-should-retry\` tell whether the same request may succeed later. Responses with 429 and 503
have the header \`Retry-After\`. Resources of other teams return 404, like missing ones. An unknown path returns 404; a known path with
another method returns 405 with the header \`Allow\`.

## Lists
Lists are paginated with \`limit\` and \`cursor\`: while \`page_info.has_next_page\` is true, pass \`page_info.next_cursor\` as
\`cursor\`. A cursor works only for the query that returned it and does not expire.

## Retries
Send an \`Idempotency-Key\` with every POST. A retry then returns the response to the first request, even if that response was lost.
A key or a link that is returned only once cannot be returned again: such a retry returns \`conflict\`, which names what was created.`,
} as const;
