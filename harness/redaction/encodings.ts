/**
 * The ways in which programs spell a value: as it is, as a part of JSON, a URL, a shell command or a page, as hexadecimal
 * and as base64. A value of several lines is also known by each of them, since most tools show lines one by one.
 */
export function listEncodings(value: string): Set<string> {
  const encodings = new Set<string>();
  for (const part of new Set([value, ...splitLines(value)])) {
    const bytes = Buffer.from(part);
    for (const spell of ESCAPES) encodings.add(spell(part));
    for (const escaped of URL_ESCAPED) for (const url of encodeForUrl(part, escaped)) encodings.add(url);
    for (const form of [bytes.toString("hex"), ...encodeBase64(bytes)]) encodings.add(form);
    encodings.add(bytes.toString("hex").toUpperCase());
  }
  return encodings;
}

/** Names of members that hold a secret themselves, and endings of those that tell where it is used. */
const SECRET_MEMBER = /key|secret|token|passw|passphrase|credential|private|auth/i;
const ADDRESS_MEMBER = /(ur[il]|_id|type|host|name)$/i;

/** What is secret of its own in a value that is a JSON document, as programs are given credentials. */
export function findSecretMembers(value: string): string[] {
  if (!/^\s*[[{]/.test(value)) return [];
  const found: string[] = [];
  try {
    JSON.parse(value, (name, member: unknown) => {
      if (typeof member === "string" && SECRET_MEMBER.test(name) && !ADDRESS_MEMBER.test(name)) found.push(member);
      return member;
    });
  } catch {
    // It only looks like one.
  }
  return found;
}

/** Shorter lines are words like any other. */
const MIN_LINE_LENGTH = 8;

/** Lines that say something of their own; a key's armour is the same in every key. */
function splitLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith("-----"));
}

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const escapeNonAscii = (text: string): string =>
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const ESCAPES: readonly ((text: string) => string)[] = [
  (text) => text,
  escapeJson,
  (text) => escapeNonAscii(escapeJson(text)),
  (text) => escapeJson(text).replaceAll("/", "\\/"),
  (text) => escapeJson(escapeJson(text)),
  escapeHtml,
  (text) => escapeHtml(text).replaceAll("'", "&#39;"),
  (text) => escapeHtml(text).replaceAll("'", "&#x27;"),
  // Within single quotes, within double quotes, and without quotes, as shells show what they run.
  (text) => text.replaceAll("'", "'\\''"),
  (text) => text.replace(/["$`\\]/g, "\\$&"),
  (text) => text.replace(/[^\w@%+=:,./-]/g, "\\$&"),
];

/** What URL encoders escape by RFC 3986, in paths, by encodeURIComponent, by encodeURI, and in forms. */
const URL_ESCAPED = [/[^\w.~-]/gu, /[^\w.~/-]/gu, /[^\w.!~*'()-]/gu, /[^\w.!~*'();,/?:@&=+$#-]/gu, /[^\w.*-]/gu];

function encodeForUrl(text: string, escaped: RegExp): string[] {
  const upper = text.replace(escaped, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
  const lower = upper.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [upper, lower, upper.replaceAll("%20", "+"), lower.replaceAll("%20", "+")];
}

/**
 * Base64 of a text that contains the value shows it in one of three ways, depending on how many bytes come before it.
 * The first and last characters depend on the neighbours and are left out.
 */
function encodeBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/(?<!=)=+$/, "");
    const first = before === 0 ? 0 : before + 1;
    const last = (before + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1;
    const stable = encoded.slice(first, last);
    return [stable, stable.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
