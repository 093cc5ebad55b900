import { Level, Entry, format } from "./log";

const entry: Entry = { level: Level.Warn, text: "low" };
console.log(format(entry));
