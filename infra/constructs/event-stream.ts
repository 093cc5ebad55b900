import { Fn, Stack } from "aws-cdk-lib";
import type { CfnUrl } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { eventSources } from "../event-sources.ts";
import { settingVariables } from "../setting-variables.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";
import { addStreamingUrl } from "./streaming-url.ts";
import { webCors } from "./web-cors.ts";

/**
 * The function that streams the events of runs. API Gateway cannot stream responses, so CloudFront sends these requests to a function URL.
 * CloudFront could sign them, but the signature would replace the caller's Authorization header; so it adds a secret instead.
 */
export class EventStream extends BaseFunction {
  /** The host of the function URL. */
  readonly host: string;
  /** The value of the header that requests of CloudFront have. */
  readonly secret: string;
  /** The values that are accepted, with commas. */
  readonly acceptedSecrets: string;

  constructor(scope: Construct, id: string, props: Pick<BaseFunctionProps, "platform" | "targets">) {
    const { settings } = props.platform;
    // The secret is part of the stack's id, which cannot be guessed and costs nothing. It only protects what the API key protects
    // too. A label in the settings rotates it.
    const unique = Fn.select(2, Fn.split("/", Stack.of(scope).stackId));
    const secrets = settings.originSecretSalts.map((salt) => (salt === "initial" ? unique : `${unique}-${salt}`));
    const acceptedSecrets = secrets.join(",");
    const reserved = settings.streamConcurrency ?? settings.concurrency.streams;
    super(scope, id, {
      ...props,
      ...eventSources.streamEvents,
      ...(reserved !== undefined && { reserved }),
      environment: {
        ORIGIN_SECRET: acceptedSecrets,
        PRINCIPALS: eventSources.streamEvents.who.join(","),
        SCOPE: eventSources.streamEvents.scope,
        // Requests name the host of CloudFront, which is unknown until the distribution exists.
        BASE_URL: settings.baseUrl ?? "",
        ...settingVariables(settings),
      },
    });
    this.secret = secrets[0] ?? unique;
    this.acceptedSecrets = acceptedSecrets;
    this.host = addStreamingUrl(
      this,
      this.lambda,
      settings.webUrl === undefined ? undefined : readCors(settings.webUrl),
    );
  }
}

/** The CORS settings for a web app of another origin. A function URL does not accept OPTIONS in its list of methods. */
function readCors(webUrl: string): CfnUrl.CorsProperty {
  const { maxAge, ...lists } = webCors(webUrl);
  return { ...lists, allowMethods: ["GET"], maxAge: maxAge.toSeconds() };
}
