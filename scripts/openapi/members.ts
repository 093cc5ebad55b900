import { type Declaration, findDeclaration, isNode, readSource, type SyntaxNode } from "./declarations.ts";

/** A member of an object schema as it is written in the source. */
export interface MemberSource {
  readonly file: string;
  /** The member that contains the schema of this one. */
  readonly parent: string | undefined;
  /** The part of an endpoint that the schema is in: `path`, `query`, `body` or `reply`. */
  readonly section: string | undefined;
  readonly name: string;
  readonly value: SyntaxNode;
  readonly comment: string | undefined;
}

/** Lists the members of the schemas in a constant: its own before those of the constants that it is made from. */
export function listMembers(declaration: Declaration): readonly MemberSource[] {
  const found: MemberSource[] = [];
  visit(declaration.value, { file: declaration.file, within: [declaration] }, found);
  return found;
}

/** What an endpoint has schemas for. */
const SECTIONS = new Set(["path", "query", "body", "reply"]);

interface Place {
  readonly file: string;
  readonly parent?: string | undefined;
  readonly section?: string;
  /** The constants that are being read, so that a recursive schema ends. */
  readonly within: readonly Declaration[];
}

function visit(node: SyntaxNode, place: Place, found: MemberSource[]): void {
  if (node.type === "Identifier") visitNamed(String(node["name"]), place, found);
  else if (node.type === "MemberExpression") visitAccess(node, place, found);
  else if (node.type === "ObjectExpression") visitObject(node, place, found);
  else for (const child of childrenOf(node)) visit(child, place, found);
}

function visitNamed(name: string, place: Place, found: MemberSource[]): void {
  const declaration = findDeclaration(place.file, name);
  if (declaration === undefined || place.within.includes(declaration)) return;
  visit(declaration.value, { ...place, file: declaration.file, within: [...place.within, declaration] }, found);
}

/** Visits what a member access yields: the value of a member, as in `config.mcp_servers`, or of the whole, as in `Item.entries`. */
function visitAccess(node: SyntaxNode, place: Place, found: MemberSource[]): void {
  const { object, property } = node;
  if (!isNode(object) || !isNode(property)) return;
  const all: MemberSource[] = [];
  visit(object, { ...place, parent: undefined }, all);
  const member = all.find(({ parent, name }) => parent === undefined && name === property["name"]);
  if (member === undefined) visit(object, place, found);
  else visit(member.value, { ...place, file: member.file }, found);
}

function visitObject(node: SyntaxNode, place: Place, found: MemberSource[]): void {
  const parts = childrenOf(node);
  const { comments } = readSource(place.file);
  for (const part of parts) {
    const { key, value } = part;
    if (part.type !== "Property" || !isNode(key) || !isNode(value)) continue;
    const name = String(key["name"] ?? key["value"]);
    const { file, parent, section } = place;
    found.push({ file, parent, section, name, value, comment: comments.get(part.start) });
    visit(value, within(place, name), found);
  }
  for (const part of parts) if (part.type !== "Property") visit(part, place, found);
}

/** The place of the members in a member. Those of an endpoint and the statuses of its replies contain no members themselves. */
function within(place: Place, name: string): Place {
  if (place.parent !== undefined || !place.within[0]?.file.startsWith("functions/")) return { ...place, parent: name };
  if (SECTIONS.has(name)) return { ...place, section: name };
  return name === "request" || /^\d{3}$/.test(name) ? place : { ...place, parent: name };
}

/** The parts of a node that have values, in the order of the source. */
function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.values(node)
    .flat()
    .filter(isNode)
    .filter(({ type }) => !type.startsWith("TS"));
}
