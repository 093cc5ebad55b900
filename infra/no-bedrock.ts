/**
 * Replaces `@aws-sdk/client-bedrock-runtime` and `@smithy/fetch-http-handler` in the bundle of the harness. The agents' SDK
 * always loads its own client of Amazon Bedrock. An execution calls models only through the gateway and has no cloud credentials,
 * so this leaves out 400 kB and every search for credentials.
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
