import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openProviderTokens } from "#harness/identity/provider-tokens.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { runHarness } from "../support/run-harness.ts";

const aws = { role_arn: "arn:aws:iam::123456789012:role/deploy" };
const gcp = {
  project_number: "12345",
  workload_identity_federation_pool_id: "runyard-pool",
  workload_identity_federation_provider_id: "runyard-provider",
};

/** The audience of a token of the fake control plane. */
const audienceOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).aud;

describe.each(["bubblewrap", "none"])("the commands of a run with providers (%s)", (sandbox) => {
  // @contract identity.aws: Commands get AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE.
  // @contract identity.gcp: Commands get GOOGLE_APPLICATION_CREDENTIALS of the type external_account.
  it("find the variables and files that the SDKs of the providers read", async () => {
    const command = [
      'echo "$AWS_ROLE_ARN $AWS_ROLE_SESSION_NAME"',
      'cut -d. -f2 "$AWS_WEB_IDENTITY_TOKEN_FILE"',
      'cat "$GOOGLE_APPLICATION_CREDENTIALS"',
    ].join("\n");
    const service_account_email = "deploy@acme.iam.gserviceaccount.com";
    const context = { providers: { aws, gcp: { ...gcp, service_account_email } } };
    await using plane = await FakeControlPlane.start({ prompt: `\`\`\`sh\n${command}\n\`\`\``, context });
    await runHarness(plane, { RUNYARD_SANDBOX: sandbox });
    expect(plane.outcome).toMatchObject({ success: true });
    const [role, claims = "", credentials = ""] = plane.outputs[0]?.split("\n") ?? [];
    expect(role).toBe(`${aws.role_arn} runyard-${plane.runId}`);
    expect(audienceOf(`.${claims}.`)).toBe("sts.amazonaws.com");
    expect(JSON.parse(credentials)).toEqual({
      type: "external_account",
      audience:
        "//iam.googleapis.com/projects/12345/locations/global/workloadIdentityPools/runyard-pool/providers/runyard-provider",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: "https://sts.googleapis.com/v1/token",
      credential_source: { file: expect.stringMatching(/\/google-identity-token$/) },
      service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${service_account_email}:generateAccessToken`,
    });
  });

  it("print no token into the conversation", async () => {
    const command = 'cat "$AWS_WEB_IDENTITY_TOKEN_FILE"';
    await using plane = await FakeControlPlane.start({
      prompt: `\`\`\`sh\n${command}\n\`\`\``,
      context: { providers: { aws } },
    });
    await runHarness(plane, { RUNYARD_SANDBOX: sandbox });
    expect(plane.outputs).toEqual(["***"]);
  });
});

describe("a run whose deployment issues no identity tokens", () => {
  it("fails in its setup with the reason", async () => {
    await using plane = await FakeControlPlane.start({ prompt: "```sh\ntrue\n```", context: { providers: { aws } } });
    const detail = "the deployment has no public address: start it with --url and an https URL";
    plane.intercept = ({ path }) =>
      path.endsWith("/identity-token") ? { status: 409, body: { detail, retryable: false } } : undefined;
    await runHarness(plane);
    expect(plane.outcome).toMatchObject({
      success: false,
      error_code: "environment_setup_failed",
      summary: expect.stringContaining("no public address"),
    });
  });
});

describe("openProviderTokens", () => {
  afterEach(() => vi.useRealTimers());

  // @contract identity.refresh: Identity tokens of commands are renewed before they expire.
  it("renews the tokens before they expire, again after a failure, and not once it is closed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const steps = mkdtempSync(join(tmpdir(), "harness-test-"));
    const file = join(steps, "aws-identity-token");
    const responses = ["first", new Error("unreachable"), "second"];
    const asked: string[] = [];
    const redactor = createRedactor([]);
    const plane = {
      async createIdentityToken(audience: string) {
        asked.push(audience);
        const response = responses.shift();
        if (typeof response !== "string") throw response;
        return { token: `token-number-${response}`, expires_at: "" };
      },
    };
    const tokens = await openProviderTokens({ aws }, { plane, redactor, log() {}, host: { steps }, inside: { steps } });
    try {
      expect(readFileSync(file, "utf8")).toBe("token-number-first");
      await vi.advanceTimersByTimeAsync(7 * 60_000);
      expect(asked).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(60_000);
      await expect.poll(() => readFileSync(file, "utf8")).toBe("token-number-second");
      expect(readdirSync(steps)).toEqual(["aws-identity-token"]);
      expect(redactor.text("a token-number-second")).toBe("a ***");
      tokens.close();
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(asked).toHaveLength(3);
    } finally {
      tokens.close();
      rmSync(steps, { recursive: true });
    }
  });
});
