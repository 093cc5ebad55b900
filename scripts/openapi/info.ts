import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root } from "../run-command.ts";

const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { version } = v.parse(v.object({ version: v.string() }), manifest);

/** What the document says about itself and about all operations. */
export const INFO = {
  title: "Runyard",
  summary: "An HTTP API that runs cloud agents.",
  version,
  license: { name: "Apache 2.0", identifier: "Apache-2.0" },
  description: `Post a prompt, get a run's id at once, and follow, steer and read the run while an agent works on it in a sandbox.

## Requests
JSON in \`snake_case\`, UTF-8, at most 4 MiB, with \`Authorization: Bearer <key>\` and \`Content-Type: application/json\`.
Members and query parameters that are not known are ignored; wrong types and wrong values are answered 400. A query parameter with several
values is repeated (\`state=QUEUED&state=PENDING\`); an empty one counts as absent. Strings must not contain NUL or a lone surrogate.

## Answers
Times are RFC 3339 in UTC with milliseconds, ids are opaque strings. An optional member is left out when there is no value. New members,
and new values of enumerations, may come at any time: ignore what you do not know.

## Errors
Every error is \`application/problem+json\`. \`error_code\` is one of a closed list and \`type\` opens a page about it. \`retryable\`
(and the header \`x-should-retry\`) says whether the same request may succeed later; 429 and 503 carry \`Retry-After\`. What belongs to
others answers 404, as what does not exist. An unknown path answers 404, a known one with another method 405 with \`Allow\`.

## Lists
\`limit\` and \`cursor\` walk a list: pass \`page_info.next_cursor\` as \`cursor\` while \`page_info.has_next_page\` is true. A cursor is
good for the query that it came with, and does not expire.

## Retries
Send an \`Idempotency-Key\` with every POST. A repeat is then answered as the first request was, whatever became of its answer.`,
} as const;
