import { globSync } from "node:fs";
import { root } from "../run-command.ts";
import { type Declaration, findDeclaration, readSource } from "./declarations.ts";
import { listMembers, type MemberSource } from "./members.ts";

/** The documentation of an endpoint: the first sentence of its comment, and the whole comment. */
export interface EndpointText {
  readonly summary: string;
  readonly description: string;
}

/** What the comment at a member says. */
export interface MemberText {
  readonly description: string;
  /** The value that stands for an absent member, from `@default`. */
  readonly default: string | undefined;
  /** The format of a string, from `@format`. */
  readonly format: string | undefined;
}

/** Reads the comment above an endpoint, without the method and path at its start. */
export function readEndpointText(endpoint: Declaration): EndpointText {
  if (endpoint.comment === undefined) {
    throw new Error(`${endpoint.file}: ${endpoint.name} has no comment that says what it does`);
  }
  const description = asSentence(
    plain(endpoint.comment).replace(/^(?:(?:GET|POST|PUT|DELETE) [^\s:]+(?:, | and )?)+:\s*/, ""),
  );
  const [summary = description] = /^.*?\.(?=\s|$)/.exec(description) ?? [];
  return { summary, description };
}

/** The schemas of shared/wire, by name. */
export const wireDeclarations: ReadonlyMap<string, Declaration> = new Map(
  globSync("shared/wire/**/*.ts", { cwd: root })
    .sort()
    .flatMap((file) => [...readSource(file).declarations]),
);

/** The text of a schema, from the comment above it. */
export function readSchemaText(name: string): string | undefined {
  const comment = wireDeclarations.get(name)?.comment;
  return comment === undefined ? undefined : asSentence(plain(comment));
}

const membersOf = new Map<Declaration, readonly MemberSource[]>();

/** A member of a constant: in the schema of its member `parent`, or in a section of an endpoint. */
export interface MemberName {
  readonly name: string;
  readonly parent?: string | undefined;
  readonly section?: string | undefined;
}

/** The text of a member, from the first comment at it in the constant or in those that it is made from. */
export function readMemberText(
  declaration: Declaration,
  { name, parent, section }: MemberName,
): MemberText | undefined {
  const members = membersOf.get(declaration) ?? listMembers(declaration);
  membersOf.set(declaration, members);
  const found = members.find(
    (member) =>
      member.name === name && member.parent === parent && member.section === section && member.comment !== undefined,
  );
  if (found?.comment === undefined) return undefined;
  const [text = "", ...tags] = plain(found.comment).split(/ ?@(?=default |format )/);
  const readTag = (tag: string) => tags.find((each) => each.startsWith(`${tag} `))?.slice(tag.length + 1);
  return { description: asSentence(text), default: readTag("default"), format: readTag("format") };
}

/** The endpoint that a file exports under a name. */
export function findEndpoint(file: string, name: string): Declaration {
  const endpoint = findDeclaration(file, name);
  if (endpoint === undefined) throw new Error(`${file} has no constant ${name}`);
  return endpoint;
}

const plain = (comment: string): string =>
  comment
    .replace(/^\s*\*\s?/gm, " ")
    .replace(/\s+/g, " ")
    .trim();

function asSentence(text: string): string {
  const capital = text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
