/** One call that reached the stand-in, as its body has it. */
export interface StoodIn {
  readonly target: string;
  readonly body: string;
}

/**
 * The settings of an SDK's client behind which no AWS is but what `answer` says. What gets here has passed all middleware,
 * as on its way to the wire.
 */
export function standIn(response: (call: StoodIn, at: number) => object = () => ({})) {
  const calls: StoodIn[] = [];
  const handle = async (request: { headers: Record<string, string>; path: string; body?: Uint8Array | string }) => {
    const { headers, path, body = "" } = request;
    const call = { target: headers["x-amz-target"] ?? path, body: toText(body) };
    const at = calls.push(call) - 1;
    const given = Buffer.from(JSON.stringify(response(call, at)));
    return { response: { statusCode: 200, headers: { "content-length": String(given.length) }, body: given } };
  };
  const config = {
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    requestHandler: { handle },
    maxAttempts: 1,
  };
  return { config, calls };
}

const toText = (body: Uint8Array | string): string =>
  typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
