/**
 * What the harness's bundle holds in place of `@aws-sdk/client-bedrock-runtime` and `@smithy/fetch-http-handler`. The agents' SDK loads its own client of Amazon
 * Bedrock wherever it is loaded; an execution calls models only through the gateway and has no cloud credentials, so 400 kB and
 * every way to look for some are left out.
 */
class NoClient {
  constructor() {
    throw new Error("an execution calls models at the model gateway alone");
  }
}

export const BedrockRuntimeClient = NoClient;
export const FetchHttpHandler = NoClient;
export const ConverseCommand = NoClient;
export const ConverseStreamCommand = NoClient;
export const CountTokensCommand = NoClient;
export const AudioFormat = {};
export const DocumentFormat = {};
export const ImageFormat = {};
export const VideoFormat = {};
