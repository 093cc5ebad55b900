import { streamedLambda } from "#shared/http/streamed.ts";
import { liveGateway } from "#shared/model-gateway/live.ts";

/** Function URL: the model gateway, by which executions call models with their run's key. */
export const handler = streamedLambda(liveGateway);
