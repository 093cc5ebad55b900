import { beforeAll, describe, expect, it } from "vitest";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface Distribution {
  readonly DistributionConfig: {
    CacheBehaviors: { PathPattern: string; Compress: boolean; CachePolicyId: object; AllowedMethods: string[] }[];
  };
}
interface CachePolicy {
  readonly CachePolicyConfig: {
    ParametersInCacheKeyAndForwardedToOrigin: {
      EnableAcceptEncodingGzip: boolean;
      EnableAcceptEncodingBrotli: boolean;
    };
  };
}
interface Api {
  readonly CorsConfiguration?: { AllowOrigins: string[]; AllowMethods: string[] };
}

describe("CloudFront", () => {
  let aws: Synthesized;
  beforeAll(() => {
    aws = synthesize();
  });

  // @contract general.responses.gzip
  it("compresses the API's responses", () => {
    const [door] = aws.all<Distribution>("AWS::CloudFront::Distribution");
    const behaviors = door?.Properties.DistributionConfig.CacheBehaviors ?? [];
    const api = behaviors.find(({ PathPattern }) => PathPattern === "/api/*");
    expect(api).toMatchObject({ Compress: true });
    // A compressed stream would be held back until a block of it is full.
    expect(behaviors[0]).toMatchObject({ PathPattern: "/api/v1/agent/runs/*/events", Compress: false });
    const [policy] = aws.all<CachePolicy>("AWS::CloudFront::CachePolicy");
    expect(policy?.Properties.CachePolicyConfig.ParametersInCacheKeyAndForwardedToOrigin).toMatchObject({
      EnableAcceptEncodingGzip: true,
    });
  });

  it("forwards every method to the API, so that it rejects wrong ones", () => {
    const [door] = aws.all<Distribution>("AWS::CloudFront::Distribution");
    const behaviors = door?.Properties.DistributionConfig.CacheBehaviors ?? [];
    const api = behaviors.find(({ PathPattern }) => PathPattern === "/api/*");
    expect(api?.AllowedMethods).toEqual(expect.arrayContaining(["GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE"]));
  });

  // @contract general.responses.cors
  it("has one origin for page and API, so OPTIONS is never allowed", () => {
    const [api] = aws.all<Api>("AWS::ApiGatewayV2::Api");
    expect(api?.Properties).not.toHaveProperty("CorsConfiguration");
  });
});

describe("a web app on another origin", () => {
  // @contract general.responses.cors: OPTIONS is allowed only for the web app's own origin.
  it("is the only origin that may send OPTIONS", () => {
    const [api] = synthesize({ webUrl: "https://app.runyard.test/runs/" }).all<Api>("AWS::ApiGatewayV2::Api");
    expect(api?.Properties.CorsConfiguration?.AllowOrigins).toEqual(["https://app.runyard.test"]);
    expect(api?.Properties.CorsConfiguration?.AllowMethods.toSorted()).toEqual(["DELETE", "GET", "POST", "PUT"]);
  });
});
