/** Errors that Amazon Bedrock returns to an account or principal without access, and their remedies. The first match counts. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /use[- ]case/i,
    "Submit the use-case form for Anthropic's models once per account or organization: Bedrock console, Model catalog, any " +
      "Anthropic model. It takes effect within 15 minutes.",
  ],
  [
    /INVALID_PAYMENT_INSTRUMENT|payment instrument/i,
    "Add a payment method that AWS Marketplace accepts to the account, and repeat the call after two minutes.",
  ],
  [
    /aws-marketplace|Marketplace subscription/i,
    "Call the model once as a principal with aws-marketplace:Subscribe and aws-marketplace:ViewSubscriptions, such as an " +
      "administrator in the Bedrock playground. Five minutes later, the model gateway can call it without these rights.",
  ],
  [
    /service control policy|explicit deny/i,
    "A policy of the organization denies the call. Allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream in all " +
      "regions of the inference profile.",
  ],
  [
    /not authorized to perform: bedrock/i,
    "Allow the principal bedrock:InvokeModel on the inference profile and on the model in all of its regions. The model gateway " +
      "has this right if the deployment sets bedrock=true.",
  ],
  [
    /don't have access to the model|Access to the model is denied/i,
    "Enable the model for this account and region: Bedrock console, Model catalog.",
  ],
  [/marked by provider as Legacy/i, "The provider has retired this model. Choose a current one."],
  [
    /model identifier is invalid|Could not resolve the foundation model|not supported in this region/i,
    "This region does not offer the model. Check AWS_REGION and the model's ID.",
  ],
];

const THROTTLED = new Set(["ThrottlingException", "ServiceQuotaExceededException"]);

/** What to do about an error of Amazon Bedrock; undefined if nothing is known. */
export function findBedrockRemedy(error: Pick<Error, "name" | "message">): string | undefined {
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(error.message)) ?? [];
  if (remedy !== undefined) return remedy;
  if (!THROTTLED.has(error.name)) return undefined;
  return "New accounts have low quotas. Request more requests and tokens per minute for the model: Service Quotas, Amazon Bedrock.";
}
