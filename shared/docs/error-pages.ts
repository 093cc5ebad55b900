import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";
import { problem, problemType } from "#shared/http/problem.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import { type Html, html, json, page, prose, table } from "./html.ts";
import type { SearchEntry } from "./search.ts";

const toSlug = (code: ErrorCode): string => code.replaceAll("_", "-");

/** The error codes by the last segment of their page's URL. */
export const CODES: ReadonlyMap<string, ErrorCode> = new Map(codes().map((code) => [toSlug(code), code]));

/** Renders the page at the `type` of a problem. */
export function errorPage(code: ErrorCode, baseUrl: string): string {
  const { title, status, endsIn } = ERRORS[code];
  const { meaning, remedy } = ERROR_GUIDE[code];
  const body = html`<main id="main">
<p><a href="${baseUrl}/docs/errors">All errors</a> · <a href="${baseUrl}/docs">API reference</a></p>
<h1>${title}</h1>
<p><code>${code}</code></p>
<h2>What it means</h2>
<p>${prose(meaning)}</p>
<h2>What to do</h2>
<p>${prose(remedy)}</p>
<h2>Summary</h2>
<dl>
<dt>Status</dt><dd>${formatStatuses(code, status)}</dd>
<dt>Retryable</dt><dd>${formatRetryable(code)}</dd>
<dt>Final state of a run</dt><dd><code>${endsIn}</code></dd>
</dl>
<h2>Example</h2>
${json(buildExample(code, baseUrl))}
</main>`;
  return page(`${title} · Runyard`, body);
}

/** Renders the page with all error codes. */
export function errorIndex(baseUrl: string): string {
  const rows = codes().map((code): Html[] => [
    html`<a href="${problemType(baseUrl, code)}"><code>${code}</code></a>`,
    html`${formatStatuses(code, ERRORS[code].status)}`,
    html`${formatRetryable(code)}`,
    prose(ERROR_GUIDE[code].meaning),
  ]);
  const body = html`<main id="main">
<p><a href="${baseUrl}/docs">API reference</a></p>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). Its <code>error_code</code> is one of these codes, and its <code>type</code>
is the URL of the code's page.</p>
${table("Errors", ["Code", "Status", "Retryable", "Meaning"], rows)}
</main>`;
  return page("Errors · Runyard", body);
}

/** The error codes as parts that a search finds. */
export const listErrorEntries = (baseUrl: string): readonly SearchEntry[] =>
  codes().map((code) => ({
    title: `Error ${formatStatuses(code, ERRORS[code].status)}: ${ERRORS[code].title}`,
    url: problemType(baseUrl, code),
    summary: ERROR_GUIDE[code].meaning,
    text: `${code} ${ERROR_GUIDE[code].remedy}`,
  }));

function codes(): readonly ErrorCode[] {
  const isCode = (name: string): name is ErrorCode => name in ERRORS;
  return Object.keys(ERRORS).filter(isCode);
}

/** The statuses of codes that have several. */
const OTHER_STATUSES: Partial<Record<ErrorCode, string>> = {
  invalid_request: "400; 405, 413, 415 or 426 in special cases",
  resource_unavailable: "429 for limits of the caller, 503 for limits of the service",
};

const formatStatuses = (code: ErrorCode, status: number): string => OTHER_STATUSES[code] ?? String(status);

function formatRetryable(code: ErrorCode): string {
  if (code === "conflict") return "if retryable is true in the response";
  return ERRORS[code].retryable ? "yes" : "no";
}

function buildExample(code: ErrorCode, baseUrl: string): unknown {
  const { detail } = ERROR_GUIDE[code];
  const context = { baseUrl, instance: "/api/v1/agent/runs", traceId: "1-6a0b61b0-6b7e1eea209c275a3e668b0f" };
  const errors =
    code === "invalid_request" ? { errors: [{ path: "title", message: "must have at most 512 characters" }] } : {};
  const error = new RunyardError(code, { ...(detail === "" ? {} : { detail }), ...errors });
  return JSON.parse(problem(error, context).body);
}
