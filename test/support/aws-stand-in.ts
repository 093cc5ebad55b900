/** One call that reached the stand-in. */
export interface StoodIn {
  readonly target: string;
  readonly body: string;
}

/**
 * Returns settings for an SDK client whose calls get the results of `response` instead of reaching AWS. A call is recorded
 * after all middleware, as the SDK would send it.
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
