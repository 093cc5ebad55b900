import { homedir } from "node:os";
import path from "node:path";
import { localPaths } from "../host/paths.ts";

/** How the program was started: `npm start` in a checkout, or `runyard-server` of the package. */
export interface Program {
  /** The words that start it, for help texts and remedies. */
  readonly usage: string;
  /** The command that a person typed in another program, such as `runyard worker`, which passed it on to this one. */
  readonly typedCommand?: string;
  /** Directory of local.json and, unless `--data` names another one, of the data. */
  readonly home: string;
  /** What help texts say about `home`. */
  readonly homeText: string;
  /** The command that is meant if none is named. */
  readonly defaultCommand?: "serve";
  /** A service executes runs only with isolation, unless `--no-sandbox` says otherwise, and without a sample run. */
  readonly isService: boolean;
}

/** `npm start` of a checkout. */
export const checkoutProgram = (environment: NodeJS.ProcessEnv): Program => ({
  usage: "npm start --",
  home: localPaths(environment).home,
  homeText: ".runyard in this checkout",
  defaultCommand: "serve",
  isService: false,
});

/** `runyard-server` of the package. */
export const packageProgram = (environment: NodeJS.ProcessEnv): Program => ({
  usage: "runyard-server",
  ...(environment["RUNYARD_TYPED_COMMAND"] ? { typedCommand: environment["RUNYARD_TYPED_COMMAND"] } : {}),
  home: environment["RUNYARD_STATE"]
    ? path.resolve(environment["RUNYARD_STATE"])
    : path.join(environment["HOME"] ?? homedir(), ".runyard"),
  homeText: "~/.runyard",
  isService: true,
});
