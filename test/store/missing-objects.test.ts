import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { S3Client } from "@aws-sdk/client-s3";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { s3FileRemoval } from "#shared/aws/s3/s3-file-removal.ts";
import { s3FileStore } from "#shared/aws/s3/s3-files.ts";

/** The files in an S3 that returns `status` to every request. */
const startFiles = (status: number) => serveFiles((_, response) => void response.writeHead(status).end());

/** The files in an S3 that responds as `respond` does. */
async function serveFiles(respond: RequestListener) {
  const server = createServer(respond);
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
    removal: s3FileRemoval(client, () => "bucket"),
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

  it("are deleted page by page, each object once", async () => {
    const stored = Array.from({ length: 7 }, (_, index) => `runs/a/${index}`);
    const requests: string[] = [];
    await using it = await serveFiles(({ method, url = "" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://s3");
      requests.push(`${method} ${pathname} ${searchParams.get("prefix") ?? ""}`.trim());
      if (method === "DELETE") {
        stored.splice(stored.indexOf(pathname.slice("/bucket/".length)), 1);
        return response.writeHead(204).end();
      }
      const page = stored.slice(0, 3).map((key) => `<Contents><Key>${key}</Key></Contents>`);
      const isTruncated = `<IsTruncated>${stored.length > 3}</IsTruncated>`;
      return response.end(`<ListBucketResult>${isTruncated}${page.join("")}</ListBucketResult>`);
    });
    await it.removal.removeAll("runs/a/");
    expect(stored).toEqual([]);
    expect(requests.filter((request) => request.startsWith("GET"))).toEqual(Array(3).fill("GET /bucket/ runs/a/"));
    expect(requests.filter((request) => request.startsWith("DELETE"))).toHaveLength(7);
  });
});
