export enum Level {
  Info,
  Warn,
}

export interface Entry {
  level: Level;
  text: string;
}

export class Formatter {
  constructor(private readonly prefix: string) {}
  format(entry: Entry): string {
    return `${this.prefix} ${Level[entry.level]}: ${entry.text}`;
  }
}

export const format = (entry: Entry): string => new Formatter(">").format(entry);
