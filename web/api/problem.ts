import { APIConnectionError, APIError, APITimeoutError } from "../../clients/typescript/src/index.ts";

export interface Described {
  readonly title: string;
  readonly text: string;
  readonly traceId?: string;
}

/** Describes an error for people: what happened, and the trace id that support asks for. */
export function describeError(error: unknown): Described {
  if (error instanceof APITimeoutError) return { title: "No response", text: "The service did not respond in time." };
  if (error instanceof APIConnectionError) {
    return { title: "No connection", text: "The service cannot be reached. Check your connection." };
  }
  if (!(error instanceof APIError)) {
    return { title: "Something went wrong", text: error instanceof Error ? error.message : String(error) };
  }
  const traceId = error.traceId;
  const text = error.errors.length > 0 ? error.errors.map((one) => `${one.path}: ${one.message}`).join("\n") : "";
  return {
    title: toTitle(error),
    text: text || (error.detail ?? error.title ?? error.message),
    ...(traceId === undefined ? {} : { traceId }),
  };
}

function toTitle({ status = 0, title }: APIError): string {
  if (status === 403) return "No permission";
  if (status === 404) return "Not found";
  if (status === 429) return "Too many requests";
  if (status >= 500) return "The service failed";
  return title ?? "The request was refused";
}

/** The message for one field of a form, if the error names that field. */
export function fieldError(error: unknown, ...paths: readonly string[]): string | undefined {
  if (!(error instanceof APIError)) return undefined;
  return error.errors.find(({ path }) => paths.some((one) => path === one || path.endsWith(`.${one}`)))?.message;
}

/** The message for a field of a form, if the error names the member at this path or one in it. */
export function errorAt(error: unknown, path: string): string | undefined {
  if (!(error instanceof APIError)) return undefined;
  return error.errors.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message;
}

/** Whether the service refused the request, so that the same request is refused again. */
export const isRefused = (error: unknown): boolean =>
  error instanceof APIError && error.status !== undefined && error.status < 500;

/** Whether the caller lacks the permission, which no retry changes. */
export const isForbidden = (error: unknown): boolean => error instanceof APIError && error.status === 403;
export const isNotFound = (error: unknown): boolean => error instanceof APIError && error.status === 404;
