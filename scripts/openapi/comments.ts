import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run-command.ts";

/** The documentation of an endpoint: the first sentence of its comment, and the whole comment. */
export interface EndpointText {
  readonly summary: string;
  readonly description: string;
}

/** Reads the comment above `export const <name>`, without the method and path at its start. */
export function readComment(file: string, name: string): EndpointText {
  const source = readFileSync(join(root, file), "utf8");
  const [, comment] = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*export const ${name}\\b`).exec(source) ?? [];
  if (comment === undefined) throw new Error(`${file}: ${name} has no comment that says what it does`);
  const description = asSentence(plain(comment).replace(/^(?:(?:GET|POST|PUT|DELETE) [^\s:]+(?:, | and )?)+:\s*/, ""));
  const [summary = description] = /^.*?\.(?=\s|$)/.exec(description) ?? [];
  return { summary, description };
}

/** Reads the comments of shared/wire: by schema, and by member as `Schema.member`. */
export function wireComments(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync("shared/wire/**/*.ts", { cwd: root }).sort()) {
    const source = readFileSync(join(root, file), "utf8");
    for (const [, comment = "", name = ""] of source.matchAll(commented(/export const (\w+)\b/))) {
      found.set(name, asSentence(plain(comment)));
    }
    for (const [, name = "", block = ""] of source.matchAll(/^export const (\w+) = v\.([\s\S]*?)^[)}\]]/gm)) {
      for (const [, comment = "", member = ""] of block.matchAll(commented(/ {2}(\w+):/))) {
        found.set(`${name}.${member}`, asSentence(plain(comment)));
      }
    }
  }
  return found;
}

const commented = (what: RegExp) => new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n${what.source}`, "g");

const plain = (comment: string): string =>
  comment
    .replace(/^\s*\*\s?/gm, " ")
    .replace(/\s+/g, " ")
    .trim();

function asSentence(text: string): string {
  const capital = text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
