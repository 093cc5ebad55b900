/**
 * Lists the encodings of a value: plain, in JSON, in a URL, in a shell command, in HTML, as hexadecimal and as base64. A value of several
 * lines also has the encodings of each line, because most tools print line by line.
 */
export function listEncodings(value: string): Set<string> {
  const encodings = new Set<string>();
  for (const part of new Set([value, ...splitLines(value)])) {
    const bytes = Buffer.from(part);
    for (const escapeText of ESCAPES) encodings.add(escapeText(part));
    for (const escaped of URL_ESCAPED) for (const url of encodeForUrl(part, escaped)) encodings.add(url);
    for (const form of [bytes.toString("hex"), ...encodeBase64(bytes)]) encodings.add(form);
    encodings.add(bytes.toString("hex").toUpperCase());
  }
  return encodings;
}

/** Names of JSON members that hold secrets, and endings of names that do not. */
const SECRET_MEMBER = /key|secret|token|passw|passphrase|credential|private|auth/i;
const ADDRESS_MEMBER = /(ur[il]|_id|type|host|name)$/i;

/** Finds the secret members of a JSON document, such as a file of credentials. */
export function findSecretMembers(value: string): string[] {
  if (!/^\s*[[{]/.test(value)) return [];
  const found: string[] = [];
  try {
    JSON.parse(value, (name, member: unknown) => {
      if (typeof member === "string" && SECRET_MEMBER.test(name) && !ADDRESS_MEMBER.test(name)) found.push(member);
      return member;
    });
  } catch {
    // The value only looks like JSON.
  }
  return found;
}

/** Shorter lines cannot be distinguished from ordinary words. */
const MIN_LINE_LENGTH = 8;

/** Splits a value into lines. The header and footer of a PEM key are the same in every key and are left out. */
function splitLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith("-----"));
}

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const escapeNonAscii = (text: string): string =>
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** As Python's repr prints a text, in double quotes; in single quotes, it escapes those too. */
const escapePython = (text: string): string =>
  text
    .replaceAll("\\", "\\\\")
    .replace(/[\t\n\r]/g, (control) => (control === "\t" ? "\\t" : control === "\n" ? "\\n" : "\\r"));

const ESCAPES: readonly ((text: string) => string)[] = [
  (text) => text,
  escapeJson,
  (text) => escapeNonAscii(escapeJson(text)),
  (text) => escapeJson(text).replaceAll("/", "\\/"),
  (text) => escapeJson(escapeJson(text)),
  (text) => escapeJson(escapeNonAscii(escapeJson(text))),
  escapeHtml,
  (text) => escapeHtml(text).replaceAll("'", "&#39;"),
  (text) => escapeHtml(text).replaceAll("'", "&#x27;"),
  (text) => escapeHtml(text).replaceAll("'", "&apos;"),
  escapePython,
  (text) => escapePython(text).replaceAll("'", "\\'"),
  // In single quotes, in double quotes, and without quotes, as shells print commands.
  (text) => text.replaceAll("'", "'\\''"),
  (text) => text.replaceAll("'", "'\"'\"'"),
  (text) => text.replace(/["$`\\]/g, "\\$&"),
  (text) => text.replace(/[^\w@%+=:,./-]/g, "\\$&"),
];

/** The characters that URL encoders escape: by RFC 3986, in paths, by encodeURIComponent, by encodeURI, and in forms. */
const URL_ESCAPED = [/[^\w.~-]/gu, /[^\w.~/-]/gu, /[^\w.!~*'()-]/gu, /[^\w.!~*'();,/?:@&=+$#-]/gu, /[^\w.*-]/gu];

function encodeForUrl(text: string, escaped: RegExp): string[] {
  const upper = text.replace(escaped, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
  const lower = upper.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [upper, lower, upper.replaceAll("%20", "+"), lower.replaceAll("%20", "+")];
}

/**
 * In the base64 of a text, a value has one of three forms, depending on how many bytes precede it. Its first and last characters depend
 * on the neighbouring bytes and are left out.
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
