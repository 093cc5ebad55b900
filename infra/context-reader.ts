import type { Node } from "constructs";

/** Reads single settings of the app's context by their names, and refuses values of another form. */
export interface ContextReader {
  text(name: string): string | undefined;
  count(name: string, least: number, most: number): number | undefined;
  flag(name: string, otherwise: boolean): boolean;
  list(name: string): readonly string[];
  /** The name of an SSM parameter. */
  parameter(name: string): string | undefined;
  address(name: string, byDefault: string): string;
}

export function contextReader(node: Node): ContextReader {
  const text = (name: string) => {
    const value: unknown = node.tryGetContext(name);
    return value === undefined || value === "" ? undefined : String(value);
  };
  return {
    text,
    count(name, least, most) {
      const value = text(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      if (Number.isInteger(number) && number >= least && number <= most) return number;
      throw new Error(`context "${name}" must be a whole number from ${least} to ${most}, not "${value}"`);
    },
    flag(name, otherwise) {
      const value = text(name) ?? String(otherwise);
      if (value === "true" || value === "false") return value === "true";
      throw new Error(`context "${name}" must be true or false, not "${value}"`);
    },
    list: (name) => (text(name) ?? "").split(",").filter((part) => part !== ""),
    parameter(name) {
      const value = text(name);
      if (value === undefined || /^(\/[\w.-]+)+$/.test(value)) return value;
      throw new Error(
        `context "${name}" must be the name of an SSM parameter, such as /a/b or /aws/reference/secretsmanager/a, not "${value}"`,
      );
    },
    address(name, byDefault) {
      const value = text(name) ?? byDefault;
      if (/^https?:\/\/[^/?#]+(\/[^?#]*[^/?#])?$/.test(value)) return value;
      throw new Error(`context "${name}" must be an address without a slash at its end, not "${value}"`);
    },
  };
}
