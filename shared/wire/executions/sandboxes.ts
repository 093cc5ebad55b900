/** The kinds of sandboxes on AWS, by the names that settings and the event `run_pending` have for them. */
export const AWS_SANDBOXES = ["lambda", "microvm", "fargate"] as const;
export type AwsSandbox = (typeof AWS_SANDBOXES)[number];
