import { DeleteObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { splitIntoBatches } from "#shared/arrays.ts";
import { type FileRemoval, isInFolder } from "#shared/files/file-store.ts";

/** Objects that are deleted at the same time. */
const AT_ONCE = 25;

/** Deletes files in S3. */
export function s3FileRemoval(client: S3Client, bucket: () => string): FileRemoval {
  async function remove(key: string): Promise<void> {
    await client.send(new DeleteObjectCommand({ Bucket: bucket(), Key: key }));
  }
  return {
    remove,
    /** Page by page. */
    async removeAll(prefix, kept = []) {
      let last: string | undefined;
      for (let isMore = true; isMore; ) {
        const start = last === undefined ? {} : { StartAfter: last };
        const page = await client.send(new ListObjectsV2Command({ Bucket: bucket(), Prefix: prefix, ...start }));
        const keys = (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
        const removed = keys.filter((key) => !isInFolder(key, kept));
        for (const batch of splitIntoBatches(removed, AT_ONCE)) await Promise.all(batch.map(remove));
        last = keys.at(-1) ?? last;
        isMore = page.IsTruncated === true;
      }
    },
  };
}
