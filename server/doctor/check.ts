/** The result of one check. A failed one prevents the service from executing runs. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail });
export const warning = (name: string, detail: string, remedy: string): Check => ({
  name,
  status: "warning",
  detail,
  remedy,
});
export const failed = (name: string, detail: string, remedy: string): Check => ({
  name,
  status: "failed",
  detail,
  remedy,
});
