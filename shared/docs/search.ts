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

/** Words of questions that say nothing about their subject. */
const STOP_WORDS = new Set(
  "a an and are be by can do does for from get how i in is it mean my of on or that the to use what when where which why with you".split(
    " ",
  ),
);

/** The terms of the documentation for other words that readers use. */
const SYNONYMS: Readonly<Record<string, string>> = {
  abort: "cancel",
  bot: "agent",
  cron: "schedule",
  kill: "cancel",
  password: "secret",
  pr: "pull request",
  price: "cost",
  regenerate: "replace",
  rotate: "replace",
  stop: "cancel",
  token: "key",
};

/**
 * Finds the entries with the most words of a query, if these are at least half of its words. Those with the words in the title come
 * first. A word is found by its stem: `signatures` finds `signature`.
 */
export function search(entries: readonly SearchEntry[], query: string): readonly SearchEntry[] {
  const words = toWords(query);
  const found = entries.map((entry) => ({ entry, ...scoreEntry(entry, words) }));
  const most = Math.max(0, ...found.map(({ matched }) => matched));
  if (most < words.length / 2) return [];
  return found
    .filter(({ matched }) => matched > 0 && matched === most)
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

/** The words without stop words, or all where there are no others. */
function toWords(query: string): readonly string[] {
  const words = normalize(query)
    .split(" ")
    .filter((word) => word !== "");
  const keywords = words.filter((word) => !STOP_WORDS.has(word));
  return keywords.length === 0 ? words : keywords;
}

/** The beginning that the forms of a word share. Short words have only one form. */
const toStem = (word: string): string =>
  word.length < 5 ? word.replace(/(?<=...)s$/, "") : word.replace(/(ies|ying|y)$/, "").replace(/(ing|ed|es|s|e)$/, "");

function scoreEntry(
  entry: SearchEntry,
  words: readonly string[],
): { readonly matched: number; readonly score: number } {
  const texts = [entry.title, entry.summary, entry.text].map((text) => ` ${normalize(text)} `);
  const scores = words.map((word) => {
    const synonym = SYNONYMS[word];
    return Math.max(scoreWord(texts, word), synonym === undefined ? 0 : scoreWord(texts, synonym) * SYNONYM_SHARE);
  });
  const isTitle = texts[0] === ` ${words.join(" ")} `;
  return {
    matched: scores.filter((score) => score > 0).length,
    score: scores.reduce((sum, score) => sum + score, isTitle ? 50 : 0),
  };
}

const SYNONYM_SHARE = 0.7;
/** A text that repeats a word is about it, up to a point. */
const MAX_REPEATS = 4;

function scoreWord([title = "", summary = "", text = ""]: readonly string[], word: string): number {
  const stem = ` ${toStem(word)}`;
  if (title.includes(` ${word} `)) return 12;
  if (title.includes(stem)) return 11;
  if (title.includes(word)) return 8;
  const inText = Math.min(MAX_REPEATS, text.split(stem).length - 1);
  if (summary.includes(stem)) return 4 + inText / 2;
  return inText === 0 && `${summary}${text}`.includes(word) ? 1 : inText;
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
