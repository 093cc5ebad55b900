export { formatBytes } from "./bytes.ts";
