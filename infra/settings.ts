import type { Node } from "constructs";

/** What a deployment may set, by CDK context (`-c name=value` or cdk.json). */
export interface Settings {
  /** `aws`, or `local` for the emulator, which leaves out what that one cannot do. @default "aws" */
  readonly stage: "aws" | "local";
  /** Address that callers use, ending in /api/v1. @default the front door's own domain, or the API's where there is none */
  readonly baseUrl?: string;
  /** Address of the web app. @default the front door's own domain */
  readonly webUrl?: string;
  /** The table's name: a restore makes a new table. @default "runyard" */
  readonly tableName: string;
  /** Address that alarms are mailed to. @default alarms only show in the console */
  readonly alarmEmail?: string;
  /** Runs that are being dispatched at the same time, 2 to 1,000. @default 50 */
  readonly dispatchConcurrency: number;
  /**
   * Sandboxes that run at the same time. Left open by default: a new account has as few as 10 concurrent executions, and
   * reserving any while fewer than 100 would be left to the rest fails the deployment. Set it once the account's quota is raised.
   * @default no reservation
   */
  readonly sandboxConcurrency?: number;
  /** Whether `reserved` of routes.ts takes effect; off by default for the same reason. @default false */
  readonly reserveConcurrency: boolean;
}

/** Reads the settings of a deployment from the app's context, and refuses values that would fail later and less clearly. */
export function readSettings(node: Node): Settings {
  const text = (name: string) => {
    const value: unknown = node.tryGetContext(name);
    return value === undefined || value === "" ? undefined : String(value);
  };
  const count = (name: string, least: number, most: number) => {
    const value = text(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new Error(`context "${name}" must be a whole number from ${least} to ${most}, not "${value}"`);
  };
  const stage = text("stage") ?? "aws";
  if (stage !== "aws" && stage !== "local") throw new Error(`context "stage" must be aws or local, not "${stage}"`);
  const baseUrl = text("baseUrl");
  if (baseUrl !== undefined && !/^https?:\/\/[^/]+(\/.*)?\/api\/v1$/.test(baseUrl)) {
    throw new Error(`context "baseUrl" must be an address that ends in /api/v1, not "${baseUrl}"`);
  }
  const webUrl = text("webUrl");
  const alarmEmail = text("alarmEmail");
  const sandboxConcurrency = count("sandboxConcurrency", 1, 100_000);
  return {
    stage,
    tableName: text("tableName") ?? "runyard",
    dispatchConcurrency: count("dispatchConcurrency", 2, 1000) ?? 50,
    reserveConcurrency: text("reserveConcurrency") === "true",
    ...(baseUrl !== undefined && { baseUrl }),
    ...(webUrl !== undefined && { webUrl: webUrl.replace(/\/$/, "") }),
    ...(alarmEmail !== undefined && { alarmEmail }),
    ...(sandboxConcurrency !== undefined && { sandboxConcurrency }),
  };
}
