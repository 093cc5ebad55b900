import { SQSClient } from "@aws-sdk/client-sqs";
import { hooked, settings } from "./client-settings.ts";

/** Sends calls to the region's endpoint, since the address in a queue's URL may be that of an earlier emulator. */
export const sqsClient = (): SQSClient => hooked(new SQSClient({ ...settings, useQueueUrlAsEndpoint: false }));
