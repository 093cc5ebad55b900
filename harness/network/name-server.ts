const HEADER_BYTES = 12;
const TYPE_A = 1;
const CLASS_IN = 1;
const TTL_SECONDS = 60;
const [NOTHING, MALFORMED, NO_SUCH_NAME, NOT_IMPLEMENTED] = [0, 1, 3, 4];

/**
 * Answers a DNS query. Names that are allowed have one address, at which the proxy of the execution listens; others do not exist. No query
 * leaves the machine, so that names cannot carry anything out either.
 * @param isAllowed is asked once about a name
 * @returns undefined for what is no query
 */
export function answerQuery(
  query: Buffer,
  address: readonly number[],
  isAllowed: (name: string) => boolean,
): Buffer | undefined {
  if (query.length < HEADER_BYTES || (query.readUInt8(2) & 0x80) !== 0) return undefined;
  const question = query.readUInt16BE(4) === 1 ? readQuestion(query) : undefined;
  if (question === undefined) return respond(query, HEADER_BYTES, MALFORMED);
  if ((query.readUInt8(2) & 0x78) !== 0) return respond(query, question.end, NOT_IMPLEMENTED);
  if (!isAllowed(question.name)) return respond(query, question.end, NO_SUCH_NAME);
  const { type, kind } = question;
  if (type !== TYPE_A || kind !== CLASS_IN) return respond(query, question.end, NOTHING);
  const answer = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, CLASS_IN, 0, 0, 0, TTL_SECONDS, 0, 4, ...address]);
  return respond(query, question.end, NOTHING, answer);
}

function respond(query: Buffer, end: number, code: number, answer?: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // A response, with recursion, to the opcode and the wish for recursion of the query.
  header.writeUInt8(0x80 | (query.readUInt8(2) & 0x79), 2);
  header.writeUInt8(0x80 | code, 3);
  header.writeUInt16BE(end > HEADER_BYTES ? 1 : 0, 4);
  header.writeUInt16BE(answer === undefined ? 0 : 1, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), answer ?? Buffer.alloc(0)]);
}

interface Question {
  readonly name: string;
  readonly type: number;
  readonly kind: number;
  /** Where it ends in the query. */
  readonly end: number;
}

function readQuestion(query: Buffer): Question | undefined {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]; length !== 0; length = query[at]) {
    // Longer lengths are pointers, which the first name of a message cannot have.
    if (length === undefined || length > 63) return undefined;
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  if (end > query.length) return undefined;
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), kind: query.readUInt16BE(at + 3), end };
}
