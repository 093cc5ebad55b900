import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A git repository in a directory of its own. */
export class Repository implements Disposable {
  readonly #root = mkdtempSync(join(tmpdir(), "harness-test-"));
  readonly path: string;

  constructor(name: string, files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}) {
    this.path = join(this.#root, name);
    mkdirSync(this.path, { recursive: true });
    this.git("init", "--quiet", "--initial-branch=main");
    this.commit(files, links);
  }

  get url(): string {
    return `file://${this.path}`;
  }

  /** Returns the new commit. */
  commit(files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}): string {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(this.path, dirname(name)), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
    for (const [name, target] of Object.entries(links)) {
      mkdirSync(join(this.path, dirname(name)), { recursive: true });
      symlinkSync(target, join(this.path, name));
    }
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message=a change");
    return this.git("rev-parse", "HEAD");
  }

  git(...args: string[]): string {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "core.hooksPath=/dev/null"];
    return execFileSync("git", [...identity, ...args], { cwd: this.path, encoding: "utf8" }).trim();
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
