import * as v from "valibot";
import { PageInfo } from "../list.ts";
import { textOfBytes } from "../primitives.ts";
import { SecretName } from "./secret-name.ts";

/** Prefixes of the variables that configure loaders, shells and this service. */
const RESERVED_PREFIXES = ["LD_", "DYLD_", "BASH_", "GLIBC_", "MALLOC_", "RUNYARD_", "GIT_CONFIG"];
/** Variables that a sandbox sets, or that make shells, interpreters and git load code or find programs. */
const RESERVED_NAMES = [
  ...["PATH", "HOME", "TMPDIR", "LANG", "TERM", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME"],
  ...[
    "IFS",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS1",
    "PS2",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
  ],
  ...[
    "UID",
    "EUID",
    "PPID",
    "OPTIND",
    "OPTARG",
    "POSIXLY_CORRECT",
    "FUNCNEST",
    "LC_ALL",
    "TZ",
    "GCONV_PATH",
    "LOCPATH",
  ],
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_EXTRA_CA_CERTS"],
  ...["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONBREAKPOINT"],
  ...["PERL5LIB", "PERLLIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT", "CLASSPATH"],
  ...["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "MAVEN_OPTS", "GOFLAGS", "GOENV", "RUSTC_WRAPPER"],
  ...["GIT_DIR", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PROXY_COMMAND"],
  ...["GIT_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "MANPAGER"],
] as const;

const RESERVED = `^(?:${RESERVED_PREFIXES.join("|")}|(?:${RESERVED_NAMES.join("|")})$)`;
const reserved = new RegExp(RESERVED);

/** Whether a variable with this name changes how programs behave, so that a secret must not have it. */
export const isReservedName = (name: string): boolean => reserved.test(name);

/** A new secret's name, which is also the name of the environment variable with its value. */
const NewSecretName = v.pipe(
  SecretName,
  v.check(
    (name) => !isReservedName(name),
    ({ input }) => `${input} is a reserved variable: choose another name`,
  ),
  v.metadata({
    not: { pattern: RESERVED },
    description:
      "Also the name of the environment variable with the value. Names that change how programs behave, such as PATH or LD_PRELOAD, are reserved.",
  }),
);

/** A new secret. */
export const CreateSecretRequest = v.object({
  /** The name that configurations refer to, unique within the team. */
  name: NewSecretName,
  /** The value. It is never returned. */
  value: textOfBytes(4096, 1),
});
export type CreateSecretRequest = v.InferOutput<typeof CreateSecretRequest>;

/** A secret without its value. */
export const SecretItem = v.object({
  /** The name that configurations refer to. */
  name: v.string(),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The owner. */
  scope: v.object({
    /** Always `Team`. */
    type: v.literal("Team"),
    /** The team's id. */
    uid: v.string(),
  }),
});
export type SecretItem = v.InferOutput<typeof SecretItem>;

/** A page of secrets. */
export const ListSecretsResponse = v.object({
  /** The secrets, without their values. */
  secrets: v.array(SecretItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
