/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda gives a function its credentials in the
 * environment; the SDK's own provider also supports profiles, SSO, STS and metadata services, 110 kB that no function
 * uses. Credentials change only with a new execution environment, so reading them at each request is cheap and never stale.
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error("the environment holds no AWS credentials");
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    };
  };
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}
