import { isUuid } from "#shared/ids.ts";

/** The last segments of a run's URL in the web app, and of its resource. */
const URL_OF_RUN = /^https?:\/\/[^\s]+\/runs\/([^/?#\s]+)\/?(?:[?#]\S*)?$/;

/** Parses the id of a run, or its URL; undefined for every other text. */
export function parseNamedRun(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? "";
  const id = (URL_OF_RUN.exec(trimmed)?.[1] ?? trimmed).toLowerCase();
  return isUuid(id) ? id : undefined;
}
