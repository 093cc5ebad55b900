import { DeleteObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { splitIntoBatches } from "#shared/arrays.ts";
import type { FileRemoval } from "#shared/files/file-store.ts";

/** Objects that are deleted at the same time. */
const AT_ONCE = 25;

/** Deletes files in S3. */
export function s3FileRemoval(client: S3Client, bucket: () => string): FileRemoval {
  async function remove(key: string): Promise<void> {
    await client.send(new DeleteObjectCommand({ Bucket: bucket(), Key: key }));
  }
  return {
    remove,
    /** Page by page. What is deleted is not listed again, so that each page is the first one. */
    async removeAll(prefix) {
      for (let isMore = true; isMore; ) {
        const page = await client.send(new ListObjectsV2Command({ Bucket: bucket(), Prefix: prefix }));
        const keys = (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
        for (const batch of splitIntoBatches(keys, AT_ONCE)) await Promise.all(batch.map(remove));
        isMore = page.IsTruncated === true;
      }
    },
  };
}
