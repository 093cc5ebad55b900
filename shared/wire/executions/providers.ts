import * as v from "valibot";
import { text } from "../primitives.ts";

const PoolName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{3,31}$/, "must have 4 to 32 of the characters a-z 0-9 - and start with a letter"),
);

/** A role of AWS that commands assume with an identity token of their run. */
const AwsProvider = v.object({
  /** The ARN of the role, such as `arn:aws:iam::123456789012:role/deploy`. */
  role_arn: v.pipe(
    text(2048),
    v.regex(/^arn:aws[a-z-]*:iam::[0-9]{12}:role\/[\w+=,.@/-]+$/, "must be the ARN of a role of IAM"),
  ),
});

/** A workload identity pool of Google Cloud that accepts identity tokens of runs. */
const GcpProvider = v.object({
  /** The number of the project that has the pool. */
  project_number: v.pipe(v.string(), v.regex(/^[0-9]{1,20}$/, "must be the number of a project")),
  /** The id of the workload identity pool. */
  workload_identity_federation_pool_id: PoolName,
  /** The id of the provider in that pool. */
  workload_identity_federation_provider_id: PoolName,
  /** The service account that commands act as. Defaults to the identity of the pool itself. */
  service_account_email: v.exactOptional(
    v.pipe(text(254), v.regex(/^[\w.-]+@[\w.-]+\.gserviceaccount\.com$/, "must be the address of a service account")),
  ),
});

/** The cloud providers that commands sign in to with the identity of their run, without a secret. */
export const Providers = v.object({
  /** The AWS role of commands. They get `AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_SESSION_NAME`. */
  aws: v.exactOptional(AwsProvider),
  /** The Google Cloud identity of commands. They get `GOOGLE_APPLICATION_CREDENTIALS`, a file of the type `external_account`. */
  gcp: v.exactOptional(GcpProvider),
});
export type Providers = v.InferOutput<typeof Providers>;
