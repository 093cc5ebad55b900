import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";
import { problem } from "#shared/http/problem.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import { type Html, html, json, page, prose, table } from "./html.ts";

const slugOf = (code: ErrorCode): string => code.replaceAll("_", "-");

/** The codes by the addresses of their pages. */
export const CODES: ReadonlyMap<string, ErrorCode> = new Map(codes().map((code) => [slugOf(code), code]));

/** The page at the `type` of a problem. */
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
<dt>Status</dt><dd>${statusesOf(code, status)}</dd>
<dt>Retryable</dt><dd>${retryableOf(code)}</dd>
<dt>State of a run that it ends</dt><dd><code>${endsIn}</code></dd>
</dl>
<h2>Example</h2>
${json(exampleOf(code, baseUrl))}
</main>`;
  return page(`${title} · Runyard`, body);
}

/** The page that lists them all. */
export function errorIndex(baseUrl: string): string {
  const rows = codes().map((code): Html[] => [
    html`<a href="${baseUrl}/docs/errors/${slugOf(code)}"><code>${code}</code></a>`,
    html`${statusesOf(code, ERRORS[code].status)}`,
    html`${retryableOf(code)}`,
    prose(ERROR_GUIDE[code].meaning),
  ]);
  const body = html`<main id="main">
<p><a href="${baseUrl}/docs">API reference</a></p>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). Its <code>error_code</code> is one of these, and its <code>type</code>
leads to the code's page.</p>
${table("Errors", ["Code", "Status", "Retryable", "Meaning"], rows)}
</main>`;
  return page("Errors · Runyard", body);
}

function codes(): readonly ErrorCode[] {
  const isCode = (name: string): name is ErrorCode => name in ERRORS;
  return Object.keys(ERRORS).filter(isCode);
}

/** Statuses of a code besides its default one. */
const OTHER_STATUSES: Partial<Record<ErrorCode, string>> = {
  invalid_request: "400; 405, 413, 415 and 426 where they are more specific",
  resource_unavailable: "429 for limits of the caller, 503 for those of the service",
};

const statusesOf = (code: ErrorCode, status: number): string => OTHER_STATUSES[code] ?? String(status);

function retryableOf(code: ErrorCode): string {
  if (code === "conflict") return "sometimes: see retryable in the response";
  return ERRORS[code].retryable ? "yes" : "no";
}

function exampleOf(code: ErrorCode, baseUrl: string): unknown {
  const { detail } = ERROR_GUIDE[code];
  const context = { baseUrl, instance: "/api/v1/agent/runs", traceId: "1-6a0b61b0-6b7e1eea209c275a3e668b0f" };
  const errors =
    code === "invalid_request" ? { errors: [{ path: "title", message: "must have at most 512 characters" }] } : {};
  const error = new RunyardError(code, { ...(detail === "" ? {} : { detail }), ...errors });
  return JSON.parse(problem(error, context).body);
}
