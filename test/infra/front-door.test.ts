import { readdirSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { runInNewContext } from "node:vm";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WEB_HANDLER } from "#infra/constructs/web-function.ts";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";
import { ensureWebApp, webAppDirectory } from "../../server/host/http/web-app.ts";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface SecurityHeaders {
  readonly ContentSecurityPolicy: { ContentSecurityPolicy: unknown };
  readonly FrameOptions: { FrameOption: string };
  readonly ReferrerPolicy: { ReferrerPolicy: string };
  readonly StrictTransportSecurity: object;
}

interface HeadersPolicy {
  readonly ResponseHeadersPolicyConfig: {
    SecurityHeadersConfig: SecurityHeaders;
    CustomHeadersConfig: { Items: { Header: string; Value: string }[] };
  };
}

interface Distribution {
  readonly DistributionConfig: { DefaultCacheBehavior: { FunctionAssociations: { EventType: string }[] } };
}

/**
 * What CloudFront requests from the bucket for a path, and the status that the viewer gets. CloudFront's documentation does not say
 * whether the function of the response sees the path of the viewer or the changed one, so that both must lead to the same.
 */
function readEdgeFunction(aws: Synthesized): (uri: string, fromBucket?: number) => { uri: unknown; status: unknown } {
  const codes = aws.all<{ FunctionCode: string }>("AWS::CloudFront::Function");
  const code = codes.find(({ Properties }) => Properties.FunctionCode.includes("index.html"))?.Properties.FunctionCode;
  expect(code?.length, "a quota of CloudFront").toBeLessThan(10_240);
  return (viewed, fromBucket = 200) => {
    const uri = runInNewContext(`${code}; handler({ request: { uri } }).uri`, { uri: viewed });
    const [status, other] = [viewed, uri].map((seen) =>
      runInNewContext(`${code}; handler({ request: { uri }, response: { statusCode } }).statusCode`, {
        uri: seen,
        statusCode: fromBucket,
      }),
    );
    expect(status).toBe(other);
    return { uri, status };
  };
}

describe("the web page", () => {
  let aws: Synthesized;
  let door: HttpProxy;

  beforeAll(async () => {
    aws = synthesize();
    await ensureWebApp();
    door = await startHttpProxy({ port: 0, webDirectory: webAppDirectory });
  });
  afterAll(() => door.close());

  /** As a browser opens a page; `fetch` says that a script sends the request. */
  const locally = (path: string) =>
    new Promise<Response>((resolve, reject) => {
      const options = { port: door.port, path, headers: { accept: "text/html", "sec-fetch-mode": "navigate" } };
      get(options, async (response) => {
        const headers = Object.fromEntries(
          Object.entries(response.headersDistinct).map(([name, all]) => [name, all?.join() ?? ""]),
        );
        resolve(new Response(await text(response), { status: response.statusCode ?? 0, headers }));
      }).on("error", reject);
    });

  it("has the same security headers from CloudFront as from the local proxy", async () => {
    const { headers } = await locally("/");
    const [policy] = aws.all<HeadersPolicy>("AWS::CloudFront::ResponseHeadersPolicy");
    const { SecurityHeadersConfig, CustomHeadersConfig } = policy?.Properties.ResponseHeadersPolicyConfig ?? {};
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    const onCloudFront = SecurityHeadersConfig?.ContentSecurityPolicy.ContentSecurityPolicy;
    // On AWS the files are on another origin, which stands as a reference to the bucket in the template.
    const parts = v.parse(v.object({ "Fn::Join": v.tuple([v.string(), v.array(v.unknown())]) }), onCloudFront)[
      "Fn::Join"
    ][1];
    const text = parts.map((part) => (typeof part === "string" ? part : "BUCKET")).join("");
    expect(text).toContain("img-src 'self' https://BUCKET;");
    expect(text.replaceAll(" https://BUCKET", "")).toBe(headers.get("content-security-policy"));
    expect(SecurityHeadersConfig).toMatchObject({
      ContentTypeOptions: { Override: true },
      FrameOptions: { FrameOption: headers.get("x-frame-options") },
      ReferrerPolicy: { ReferrerPolicy: headers.get("referrer-policy") },
    });
    expect(SecurityHeadersConfig?.StrictTransportSecurity, "requires TLS of no other service's subdomain").toEqual({
      AccessControlMaxAgeSec: 365 * 86_400,
      IncludeSubdomains: false,
      Override: true,
    });
    expect(CustomHeadersConfig?.Items).toEqual([
      { Header: "Cross-Origin-Opener-Policy", Value: headers.get("cross-origin-opener-policy"), Override: true },
    ]);
  });

  it("is served at every address that is not a file, on CloudFront as on the local proxy", async () => {
    const onCloudFront = readEdgeFunction(aws);
    const page = await (await locally("/index.html")).text();
    for (const path of ["/", "/runs/0199a0c4-0000-7000-8000-000000000001", "/runs/0199a0c4/"]) {
      expect(onCloudFront(path)).toEqual({ uri: "/index.html", status: 200 });
      expect(await (await locally(path)).text()).toBe(page);
    }
    const files = [...page.matchAll(/(?:href|src)="(\/[^"]+\.\w+)"/g)].map(([, path = ""]) => path);
    expect(files.length).toBeGreaterThan(3);
    for (const path of files) {
      expect(onCloudFront(path)).toEqual({ uri: path, status: 200 });
      const response = await locally(path);
      expect(response.status).toBe(200);
      const expected = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
      expect(response.headers.get("cache-control")).toBe(expected);
    }
  });

  it("has the status 404 at addresses at which the app has no page, on CloudFront as on the local proxy", async () => {
    const onCloudFront = readEdgeFunction(aws);
    const page = await (await locally("/")).text();
    expect(await (await locally("/404.html")).text(), "a copy of the page").toBe(page);
    for (const path of ["/nothing", "/runs/0199a0c4/more", "/settings/team/", "/settings", "/sign-in"]) {
      const response = await locally(path);
      expect(await response.text()).toBe(page);
      const isKnown = path.startsWith("/s");
      expect(response.status, path).toBe(isKnown ? 200 : 404);
      expect(onCloudFront(path)).toEqual({
        uri: isKnown ? "/index.html" : "/404.html",
        status: isKnown ? 200 : 404,
      });
    }
    expect(onCloudFront("/nothing", 304).status, "a copy that the viewer has").toBe(304);
    const [distribution] = aws.all<Distribution>("AWS::CloudFront::Distribution");
    const { FunctionAssociations } = distribution?.Properties.DistributionConfig.DefaultCacheBehavior ?? {};
    expect(FunctionAssociations?.map(({ EventType }) => EventType)).toEqual(["viewer-request", "viewer-response"]);
  });

  it("is the same from the function that serves it without CloudFront", async () => {
    type Response = { statusCode: number; body: string; headers: object };
    const exported: { handler?: (event: object) => Promise<Response> } = {};
    const inApp = (path: string) => path.replace("/opt", webAppDirectory);
    const files = {
      readdirSync: (path: string, options: { withFileTypes: true }) => readdirSync(inApp(path), options),
      readFileSync: (path: string) => readFileSync(inApp(path)),
    };
    new Function("require", "exports", WEB_HANDLER)(() => files, exported);
    const page = await (await locally("/")).text();
    const paths = [...page.matchAll(/(?:href|src)="(\/[^"]+\.\w+)"/g)].map(([, path = ""]) => path);
    for (const path of ["/", "/runs/0199a0c4", ...paths]) {
      const local = await locally(path);
      const response = await exported.handler?.({ rawPath: path });
      expect(response?.statusCode).toBe(200);
      expect(response?.headers).toHaveProperty("strict-transport-security", "max-age=31536000");
      expect(Buffer.from(response?.body ?? "", "base64").toString()).toBe(await local.text());
      for (const name of ["cache-control", "x-frame-options", "referrer-policy", "cross-origin-opener-policy"])
        expect(response?.headers).toHaveProperty(name, local.headers.get(name));
    }
    expect(await exported.handler?.({ rawPath: "/../index.mjs" })).toMatchObject({ statusCode: 404 });
    for (const path of ["/runs/", "/settings/team", "/nothing", "/runs/0199a0c4/more"]) {
      const local = await locally(path);
      const response = await exported.handler?.({ rawPath: path });
      expect([local.status, await local.text()], path).toEqual([
        /nothing|more/.test(path) ? 404 : 200,
        Buffer.from(response?.body ?? "", "base64").toString(),
      ]);
      expect(response?.statusCode, path).toBe(local.status);
    }
  });
});
