import { type JsonObject, listOperations, listSchemas, toObject, toText } from "./openapi.ts";
import { toReferenceUrl } from "./operation-page.ts";

/** A part of the documentation that a search finds. */
export interface SearchEntry {
  readonly title: string;
  readonly url: string;
  /** What a result shows below its title. */
  readonly summary: string;
  /** All that is searched, besides the title. */
  readonly text: string;
}

/** The most results of a search. */
const MAX_RESULTS = 40;

/** Finds the entries with all words of a query. Those with the words in the title come first. */
export function search(entries: readonly SearchEntry[], query: string): readonly SearchEntry[] {
  const words = toWords(query);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreEntry(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_RESULTS)
    .map(({ entry }) => entry);
}

/** `createRun` and `create_run` are found by `create run`, and the other way around. */
const normalize = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

const toWords = (query: string): readonly string[] =>
  normalize(query)
    .split(" ")
    .filter((word) => word !== "");

function scoreEntry({ title, summary, text }: SearchEntry, words: readonly string[]): number {
  const [inTitle, inSummary, inText] = [normalize(title), normalize(summary), normalize(text)];
  let score = inTitle === words.join(" ") ? 50 : 0;
  for (const word of words) {
    if (` ${inTitle} `.includes(` ${word} `)) score += 12;
    else if (inTitle.includes(word)) score += 8;
    else if (inSummary.includes(word)) score += 4;
    else if (inText.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

/** The entries of the operations and schemas of the OpenAPI document. */
export function listReferenceEntries(document: JsonObject, baseUrl: string): readonly SearchEntry[] {
  const operations = listOperations(document).map(({ id, method, path, data }) => ({
    title: `${method} ${path}`,
    url: toReferenceUrl(id, baseUrl),
    summary: toText(data["summary"]),
    text: `${id} ${collectTexts(data).join(" ")}`,
  }));
  const schemas = listSchemas(document).map(([name, schema]) => ({
    title: name,
    url: toReferenceUrl(name, baseUrl),
    summary: toText(schema["description"]),
    text: collectTexts(toObject(schema)).join(" "),
  }));
  return [...operations, ...schemas];
}

/** The names and descriptions of members and parameters. */
function collectTexts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return Object.entries(toObject(value)).flatMap(([name, inner]) => {
    if (name === "responses" || name === "example" || name === "examples") return [];
    if (name === "description" || name === "name") return toText(inner);
    return name === "properties" ? [...Object.keys(toObject(inner)), ...collectTexts(inner)] : collectTexts(inner);
  });
}
