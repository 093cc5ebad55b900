import { once } from "node:events";
import { createServer } from "node:http";
import { S3Client } from "@aws-sdk/client-s3";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { s3FileStore } from "#shared/aws/s3-files.ts";

/** The files in an S3 that returns `status` to every request. */
async function startFiles(status: number) {
  const server = createServer((_, response) => void response.writeHead(status).end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = v.parse(v.object({ port: v.number() }), server.address());
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const stop = async () => {
    client.destroy();
    server.close();
    await once(server, "close");
  };
  return {
    files: s3FileStore(
      client,
      () => "bucket",
      60,
      () => 0,
    ),
    [Symbol.asyncDispose]: stop,
  };
}

describe("the files in S3", () => {
  it.each([403, 404])(
    "have no object if S3 returns %i, which also means that without the permission to list",
    async (status) => {
      await using it = await startFiles(status);
      expect(await it.files.get("missing")).toBeUndefined();
      expect(await it.files.size("missing")).toBeUndefined();
    },
  );

  it.each([400, 500])("throw if S3 returns %i", async (status) => {
    await using it = await startFiles(status);
    await expect(it.files.get("any")).rejects.toThrow();
    await expect(it.files.size("any")).rejects.toThrow();
  });
});
