import { parse } from "yaml";

/**
 * Parses a YAML document. @throws when it is invalid
 * This is a separate module so that it can be loaded on demand: in a split bundle, a CommonJS package has no named exports to import
 * dynamically.
 */
export const parseYaml = (text: string): unknown => parse(text);
