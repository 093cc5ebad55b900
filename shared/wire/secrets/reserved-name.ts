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

/** Matches reserved names. */
export const RESERVED = `^(?:${RESERVED_PREFIXES.join("|")}|(?:${RESERVED_NAMES.join("|")})$)`;
const reserved = new RegExp(RESERVED);

/** Whether a variable with this name changes how programs behave, so that a secret must not have it. */
export const isReservedName = (name: string): boolean => reserved.test(name);
