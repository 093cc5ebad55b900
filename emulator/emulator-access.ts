import { ACCOUNT, REGION } from "./account.ts";

/** The emulator's address, and the secret access key of this start, without which the emulator returns 403. */
export interface EmulatorAccess {
  readonly endpoint: string;
  readonly secretKey: string;
}

/** Names the key in requests that no SDK signs; the emulator's guard removes it. */
export const KEY_HEADER = "x-emulator-key";

/** Settings of an SDK client that calls the emulator. */
export const clientSettings = ({ endpoint, secretKey }: EmulatorAccess) => ({
  endpoint,
  region: REGION,
  credentials: { accessKeyId: ACCOUNT, secretAccessKey: secretKey },
});
