import { parse } from "yaml";

/**
 * The value of a YAML document; throws where it is none. A module of its own, to be loaded on demand: where a bundle is split, a package in
 * CommonJS has no names by which it could be imported dynamically.
 */
export const parseYaml = (text: string): unknown => parse(text);
