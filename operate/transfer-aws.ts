/** What `npm run aws -- export` and `npm run aws -- import` share: command line, clients of the deployment, and concurrency. */
import { parseArgs } from "node:util";
import type { S3Client } from "@aws-sdk/client-s3";
import type { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { s3Client } from "#shared/aws/s3/s3-client.ts";
import { Problem, say } from "../server/host/terminal.ts";
import { runByHand } from "./by-hand.ts";
import { operatorClient } from "./operator-client.ts";

/** The table and the bucket of a deployment on AWS. */
export interface Deployment {
  readonly dynamo: DynamoClient;
  readonly s3: S3Client;
  readonly table: string;
  readonly bucket: string;
}

interface Transfer {
  readonly command: "export:aws" | "import:aws";
  /** The directory or archive, as the help names it. */
  readonly argument: string;
  readonly description: string;
  /** What is missing where the argument is. */
  readonly missing: string;
  /** Resolves with the lines to print. */
  readonly run: (deployment: Deployment, path: string) => Promise<readonly string[]>;
}

const formatHelp = ({ command, argument, description }: Transfer): string =>
  `Usage: npm run ${command} -- ${argument} --bucket NAME [options]

${description}

  --table NAME    the table of the deployment (default: runyard)
  --bucket NAME   the bucket of the deployment, an output of the stack Runyard-Data
  --help          show this text

The account and the region are those of your AWS credentials (AWS_PROFILE, AWS_REGION and the like).`;

/** Files that are transferred at the same time. */
const CONCURRENCY = 8;

export const runTransfer = (transfer: Transfer): Promise<void> =>
  runByHand(async (args) => {
    const text = { type: "string" } as const;
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { table: { ...text, default: "runyard" }, bucket: text, help: { type: "boolean", default: false } },
    });
    if (values.help) return say(formatHelp(transfer));
    const [path] = positionals;
    const { table, bucket } = values;
    if (path === undefined || bucket === undefined) {
      throw new Problem(`Name ${transfer.missing} and --bucket.`, [formatHelp(transfer)]);
    }
    const deployment = { dynamo: await operatorClient(), s3: s3Client(), table, bucket };
    for (const line of await transfer.run(deployment, path)) say(line);
  });

/** Transfers the files with these names. `transferFile` resolves to whether there was one. Resolves with their number. */
export async function transferFiles(
  names: AsyncGenerator<string>,
  transferFile: (name: string) => Promise<boolean>,
): Promise<number> {
  let count = 0;
  const work = async (): Promise<void> => {
    for (let next = await names.next(); next.done !== true; next = await names.next()) {
      if (await transferFile(next.value)) count++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return count;
}
