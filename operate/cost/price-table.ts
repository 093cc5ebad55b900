import { DISK_GB_SECOND_USD, GB_SECOND_USD } from "../../infra/sandbox-price.ts";

/** The date on which the prices below were last compared with their sources. */
export const PRICES_CHECKED = "2026-11-22";

/** A price of AWS in us-east-1, in US dollars, on demand. */
interface Price {
  readonly dollars: number;
  readonly per: string;
  /** What an account gets each month free of charge, without an end. @default 0 */
  readonly alwaysFree?: number;
  /** Where AWS states it. */
  readonly source: string;
  /** The page that it was compared with. @default none: it was not compared, because AWS's own page could not be read */
  readonly comparedWith?: string;
}

const FREE_TIER = "https://costpulse.cloud/insights/aws-free-tier-costs";
const LAMBDA = "https://aws.amazon.com/lambda/pricing/";
const CLOUDWATCH = "https://aws.amazon.com/cloudwatch/pricing/";
const MILLION = 1_000_000;

/** The prices that the computed costs consist of. */
export const PRICE_TABLE = {
  queueRequests: {
    dollars: 0.4 / MILLION,
    per: "request of SQS",
    alwaysFree: MILLION,
    source: "https://aws.amazon.com/sqs/pricing/",
    comparedWith: "https://cloudburn.io/blog/amazon-sqs-pricing",
  },
  fairQueueRequests: {
    dollars: 0.1 / MILLION,
    per: "request of SQS with a message group, in addition",
    source: "https://aws.amazon.com/sqs/pricing/",
    comparedWith: "https://cloudburn.io/blog/amazon-sqs-pricing",
  },
  invocations: {
    dollars: 0.2 / MILLION,
    per: "invocation of Lambda",
    alwaysFree: MILLION,
    source: LAMBDA,
    comparedWith: "https://cloudchipr.com/blog/aws-lambda-pricing",
  },
  gbSeconds: {
    dollars: GB_SECOND_USD,
    per: "GB-second of Lambda on arm64",
    alwaysFree: 400_000,
    source: LAMBDA,
    comparedWith: "https://cloudchipr.com/blog/aws-lambda-pricing",
  },
  diskGbSeconds: { dollars: DISK_GB_SECOND_USD, per: "GB-second of Lambda's disk above 512 MB", source: LAMBDA },
  readUnits: {
    dollars: 0.125 / MILLION,
    per: "read unit of DynamoDB",
    source: "https://aws.amazon.com/dynamodb/pricing/on-demand/",
    comparedWith: "https://airbyte.com/data-engineering-resources/dynamodb-pricing",
  },
  writeUnits: {
    dollars: 0.625 / MILLION,
    per: "write unit of DynamoDB",
    source: "https://aws.amazon.com/dynamodb/pricing/on-demand/",
    comparedWith: "https://airbyte.com/data-engineering-resources/dynamodb-pricing",
  },
  httpRequests: {
    dollars: 1 / MILLION,
    per: "request of an HTTP API",
    source: "https://aws.amazon.com/api-gateway/pricing/",
    comparedWith: "https://appropri8-astro.pages.dev/tutorials/2025/12/02/deploying-simple-api-aws/page/7",
  },
  alarms: { dollars: 0.1, per: "alarm and month", alwaysFree: 10, source: CLOUDWATCH, comparedWith: FREE_TIER },
  dashboards: { dollars: 3, per: "dashboard and month", alwaysFree: 3, source: CLOUDWATCH },
  logGb: { dollars: 0.5, per: "GB of logs", alwaysFree: 5, source: CLOUDWATCH },
  traces: {
    dollars: 5 / MILLION,
    per: "trace of X-Ray",
    alwaysFree: 100_000,
    source: "https://aws.amazon.com/xray/pricing/",
  },
  puts: { dollars: 5 / MILLION, per: "PUT of S3", source: "https://aws.amazon.com/s3/pricing/" },
  kmsKeys: { dollars: 1, per: "KMS key and month", source: "https://aws.amazon.com/kms/pricing/" },
  imageGb: {
    dollars: 0.1,
    per: "GB and month of images in ECR",
    source: "https://aws.amazon.com/ecr/pricing/",
    comparedWith: "https://cloudburn.io/blog/amazon-ecr-pricing",
  },
} as const satisfies Record<string, Price>;
export type PriceName = keyof typeof PRICE_TABLE;

/** One line of a bill. */
export interface BillLine {
  readonly what: string;
  readonly price: PriceName;
  readonly quantity: number;
  /** At list price. */
  readonly list: number;
  /** After the always-free allowance of a month. */
  readonly charged: number;
}

type Usage = readonly (readonly [what: string, price: PriceName, quantity: number])[];

/** Prices what is used. Lines with the same price share one allowance, which the first lines use up. */
export function toBill(usage: Usage): BillLine[] {
  const totals = new Map<PriceName, number>();
  return usage.map(([what, name, quantity]) => {
    const price: Price = PRICE_TABLE[name];
    const before = totals.get(name) ?? 0;
    totals.set(name, before + quantity);
    const beyond = (amount: number) => Math.max(0, amount - (price.alwaysFree ?? 0));
    const charged = beyond(before + quantity) - beyond(before);
    return { what, price: name, quantity, list: quantity * price.dollars, charged: charged * price.dollars };
  });
}

export const sumOf = (bill: readonly BillLine[], member: "list" | "charged"): number =>
  bill.reduce((sum, line) => sum + line[member], 0);
