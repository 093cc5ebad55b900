import type { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { toConnection } from "#shared/wire/providers/provider-settings.ts";
import { eventSources } from "../event-sources.ts";
import type { Settings } from "../settings.ts";
import { BaseFunction, type BaseFunctionProps } from "./base-function.ts";
import type { Models } from "./grants.ts";
import { namedParameter } from "./parameter.ts";
import { addStreamingUrl } from "./streaming-url.ts";

/**
 * The model gateway with a function URL, which streams responses and waits as long as the function may run. API Gateway times
 * out after 30 seconds, and CloudFront after 60 without a byte. The function itself authenticates callers, by the key of a run.
 */
export class ModelGateway extends BaseFunction {
  /** `https://…`, without a slash at its end. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: Omit<BaseFunctionProps, "file" | "rights">) {
    const { modelCalls } = props.platform.settings.concurrency;
    super(scope, id, {
      ...props,
      ...eventSources.callModel,
      ...(modelCalls !== undefined && { reserved: modelCalls }),
    });
    this.url = `https://${addStreamingUrl(this, this.lambda)}`;
  }
}

/** The providers that the settings name: where their keys are, and which models of Bedrock may be called. */
export function namedModels(stack: Stack, settings: Settings): Models {
  const { anthropicKeyParameter, openaiKeyParameter, compatible, bedrock, modelProviders } = settings;
  const keys = {
    ANTHROPIC_KEY_PARAMETER: anthropicKeyParameter,
    OPENAI_KEY_PARAMETER: openaiKeyParameter,
    COMPATIBLE_KEY_PARAMETER: compatible?.keyParameter,
  };
  const named = Object.entries(keys).flatMap(([variable, name]) => (name === undefined ? [] : [{ variable, name }]));
  return {
    keys: [
      ...named.map(({ variable, name }) => ({ variable, ...namedParameter(stack, name) })),
      ...modelProviders.flatMap(({ key }) => (key === undefined ? [] : [namedParameter(stack, key.parameter)])),
    ],
    bedrock: bedrock
      ? [
          // A call through a global inference profile needs rights on the profile and on the model in every region that it routes to.
          stack.formatArn({ service: "bedrock", resource: "inference-profile", resourceName: "global.anthropic.*" }),
          stack.formatArn({
            service: "bedrock",
            region: "*",
            account: "",
            resource: "foundation-model",
            resourceName: "anthropic.*",
          }),
        ]
      : [],
    environment: {
      ...(compatible !== undefined && { COMPATIBLE_BASE_URL: compatible.baseUrl }),
      ...(modelProviders.length > 0 && { PROVIDER_CONNECTIONS: JSON.stringify(modelProviders.map(toConnection)) }),
    },
  };
}
