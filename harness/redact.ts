/** Takes planted secrets out of everything that leaves the sandbox. */
export interface Redactor {
  /** The text without any known secret. */
  text(text: string): string;
  /** The same for every string inside a JSON value, member names included. */
  json<T>(value: T): T;
  /** Redacts a text that comes in pieces, also where a secret lies across two of them. */
  stream(): RedactingStream;
  /** Makes one more value a secret, from now on. */
  add(secret: string): void;
}

/** Holds back so much of the end that no secret can be cut in two; `end` gives the rest. */
export interface RedactingStream {
  push(piece: string): string;
  end(): string;
}

/** Shorter values would match ordinary words and turn every output into stars. */
const SHORTEST_SECRET = 8;
const MARK = "***";

/**
 * This guards against accidents: a command that prints its environment, an error that quotes a URL. It is no wall: who
 * holds a secret can always spell it in a way that no pattern knows. The wall is what a run's key may do.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = new Set<string>();
  let pattern: RegExp | undefined;
  let longest = 0;

  const add = (secret: string) => {
    if (secret.length < SHORTEST_SECRET) return;
    for (const form of formsOf(secret)) forms.add(form);
    const ordered = [...forms].sort((a, b) => b.length - a.length);
    longest = ordered[0]?.length ?? 0;
    pattern = new RegExp(ordered.map(RegExp.escape).join("|"), "g");
  };
  const text = (value: string) => (pattern === undefined ? value : value.replaceAll(pattern, MARK));
  const stream = (): RedactingStream => {
    let held = "";
    return {
      push(piece) {
        const known = text(held + piece);
        const cut = Math.max(0, known.length - Math.max(0, longest - 1));
        held = known.slice(cut);
        return known.slice(0, cut);
      },
      end() {
        const rest = text(held);
        held = "";
        return rest;
      },
    };
  };

  for (const secret of secrets) add(secret);
  return { text, add, stream, json: (value) => mapStrings(value, text) };
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...base64Forms(bytes),
  ];
}

/**
 * Base64 of a text that contains the secret shows it in one of three ways, depending on how many bytes come before it.
 * The first and last characters depend on the neighbours and are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const first = before === 0 ? 0 : before + 1;
    const last = (before + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1;
    const stable = encoded.slice(first, last);
    return [stable, stable.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function mapStrings<T>(value: T, map: (text: string) => string): T;
function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [map(name), mapStrings(member, map)]));
}
