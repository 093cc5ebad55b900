/** In a module of its own, to be loaded on demand: where a bundle is split, a package in CommonJS has no names to be imported dynamically by. */
export { parse } from "yaml";
