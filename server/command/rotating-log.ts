import { appendFileSync, renameSync, statSync } from "node:fs";
import path from "node:path";
import { createDirectory } from "../disk/create-directory.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_FILES = 5;
/** Lines are written together, so that a request does not wait for the disk. */
const FLUSH_MS = 200;
const MAX_PENDING = 1024 * 1024;

/** A log file that is renamed to `‹file›.1` when it is full; the oldest of these files is replaced. */
export class RotatingLog {
  readonly #file: string;
  #pending = "";
  #bytes: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(file: string) {
    createDirectory(path.dirname(file));
    appendFileSync(file, "", { mode: 0o600 });
    this.#file = file;
    this.#bytes = statSync(file).size;
  }

  write(line: string): void {
    this.#pending += line;
    if (this.#pending.length > MAX_PENDING) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /** Writes what is pending. A log that cannot be written must not end the server, so its lines are lost. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text === "") return;
    try {
      if (this.#bytes > MAX_BYTES) this.#rotate();
      appendFileSync(this.#file, text, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(text);
    } catch {
      // For example a full disk.
    }
  }

  #rotate(): void {
    for (let number = MAX_FILES - 1; number >= 1; number--) {
      const from = number === 1 ? this.#file : `${this.#file}.${number - 1}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${this.#file}.${number}`);
    }
    this.#bytes = 0;
  }
}
