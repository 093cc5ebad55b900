import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpProxy, startHttpProxy } from "../../local/http-proxy.ts";
import { repository, type Synthesized, synthesize } from "./synthesize.ts";

interface SecurityHeaders {
  readonly ContentSecurityPolicy: { ContentSecurityPolicy: string };
  readonly FrameOptions: { FrameOption: string };
  readonly ReferrerPolicy: { ReferrerPolicy: string };
}

interface HeadersPolicy {
  readonly ResponseHeadersPolicyConfig: {
    SecurityHeadersConfig: SecurityHeaders;
    CustomHeadersConfig: { Items: { Header: string; Value: string }[] };
  };
}

describe("the web page", () => {
  let aws: Synthesized;
  let door: HttpProxy;

  beforeAll(async () => {
    aws = synthesize();
    door = await startHttpProxy({ port: 0, webDirectory: join(repository, "web") });
  });
  afterAll(() => door.close());

  const locally = async (path: string) => fetch(`http://127.0.0.1:${door.port}${path}`);

  it("has the same safety headers from CloudFront as from the local front door", async () => {
    const { headers } = await locally("/");
    const [policy] = aws.all<HeadersPolicy>("AWS::CloudFront::ResponseHeadersPolicy");
    const { SecurityHeadersConfig, CustomHeadersConfig } = policy?.Properties.ResponseHeadersPolicyConfig ?? {};
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(SecurityHeadersConfig).toMatchObject({
      ContentSecurityPolicy: { ContentSecurityPolicy: headers.get("content-security-policy") },
      ContentTypeOptions: { Override: true },
      FrameOptions: { FrameOption: headers.get("x-frame-options") },
      ReferrerPolicy: { ReferrerPolicy: headers.get("referrer-policy") },
    });
    expect(CustomHeadersConfig?.Items).toEqual([
      { Header: "Cross-Origin-Opener-Policy", Value: headers.get("cross-origin-opener-policy"), Override: true },
    ]);
  });

  it("answers every address that is not a file, on CloudFront as on the local front door", async () => {
    const codes = aws.all<{ FunctionCode: string }>("AWS::CloudFront::Function");
    const code = codes.find(({ Properties }) => Properties.FunctionCode.includes("index.html"));
    const onCloudFront = (uri: string): unknown =>
      runInNewContext(`${code?.Properties.FunctionCode}; handler({ request: { uri } }).uri`, { uri });
    const page = await (await locally("/index.html")).text();
    for (const path of ["/", "/runs/0199a0c4-0000-7000-8000-000000000001", "/runs/0199a0c4/"]) {
      expect(onCloudFront(path)).toBe("/index.html");
      expect(await (await locally(path)).text()).toBe(page);
    }
    for (const path of ["/app.js", "/style.css", "/icon.svg"]) {
      expect(onCloudFront(path)).toBe(path);
      expect((await locally(path)).status).toBe(200);
      expect(page + (await (await locally("/app.js")).text())).toContain(path);
    }
  });
});
