/** The kinds of sandboxes on AWS, by the names that settings and the event `run_pending` have for them. */
export const AWS_SANDBOXES = ["lambda", "microvm", "fargate"] as const;
export type AwsSandbox = (typeof AWS_SANDBOXES)[number];

/** What starts a sandbox: a service of AWS, or the server of a single machine, which starts it as a process. */
export const SANDBOX_PROVIDERS = [...AWS_SANDBOXES, "process"] as const;
export type SandboxProvider = (typeof SANDBOX_PROVIDERS)[number];
