import type { Providers } from "#shared/wire/executions/providers.ts";

/** Files in the directory of steps, which commands can read and not write. */
export const AWS_TOKEN = "aws-identity-token";
export const GCP_TOKEN = "google-identity-token";
export const GCP_CREDENTIALS = "google-credentials.json";

/** Returns the variables by which the SDKs of cloud providers find the files. @param steps the directory as commands see it */
export function buildProviderVariables(
  { aws, gcp }: Providers,
  { steps }: { readonly steps: string },
  runId: string,
): Record<string, string> {
  return {
    ...(aws === undefined
      ? {}
      : {
          AWS_ROLE_ARN: aws.role_arn,
          AWS_WEB_IDENTITY_TOKEN_FILE: `${steps}/${AWS_TOKEN}`,
          AWS_ROLE_SESSION_NAME: `runyard-${runId}`,
        }),
    ...(gcp === undefined ? {} : { GOOGLE_APPLICATION_CREDENTIALS: `${steps}/${GCP_CREDENTIALS}` }),
  };
}
