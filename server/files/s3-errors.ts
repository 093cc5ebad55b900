/** The error codes of S3 and their HTTP status. */
const STATUS = {
  AccessDenied: 403,
  SignatureDoesNotMatch: 403,
  NoSuchKey: 404,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  PreconditionFailed: 412,
  EntityTooLarge: 413,
  EntityTooSmall: 400,
  InvalidRange: 416,
  IncompleteBody: 400,
  BadDigest: 400,
  InvalidArgument: 400,
  MalformedPOSTRequest: 400,
  InternalError: 500,
  InsufficientStorage: 507,
} as const;
type Code = keyof typeof STATUS;

/** An error response. */
export class S3Error extends Error {
  readonly code: Code;
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: Code, message: string, headers: Readonly<Record<string, string>>) {
    super(message);
    this.name = "S3Error";
    this.code = code;
    this.headers = headers;
  }
}

export const s3Error = (code: Code, message: string, headers: Readonly<Record<string, string>> = {}): S3Error =>
  new S3Error(code, message, headers);

/** Formats an error as S3 does, in XML. */
export function toErrorResponse({ code, message, headers }: S3Error): Response {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error>`;
  return new Response(body, { status: STATUS[code], headers: { "content-type": "application/xml", ...headers } });
}

const escapeXml = (text: string): string =>
  text.replace(/[<>&]/g, (sign) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;" })[sign] ?? "");
