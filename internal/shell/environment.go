package shell

import (
	"regexp"
	"strings"
)

var (
	// implicitVariables lists the variables that bash sets by itself to values that may contain
	// text of the script.
	implicitVariables = setOf("_ REPLY MAPFILE BASH_REMATCH BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0 BASH_SOURCE FUNCNAME")
	// counters lists variables such as RANDOM. If a value is assigned to one of them, bash
	// evaluates the value as arithmetic.
	counters = setOf("RANDOM SRANDOM SECONDS OPTIND HISTCMD LINENO BASHPID BASH_SUBSHELL BASH_MONOSECONDS EPOCHSECONDS EPOCHREALTIME")
	// runVariables lists the variables whose values some programs run as commands.
	runVariables = setOf(`
	PAGER EDITOR VISUAL MANPAGER BROWSER GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS
	SUDO_ASKPASS SUDO_EDITOR RSYNC_RSH CVS_RSH SYSTEMD_PAGER SYSTEMD_EDITOR FCEDIT PROMPT_COMMAND GH_PAGER GH_EDITOR AWS_PAGER CC CXX CPP LD
	AR AS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC PSQL_PAGER KUBE_EDITOR MAKE CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER`)
	// steeringVariables lists the variables, besides runVariables, that affect which programs run.
	steeringVariables = setOf(`
	PATH BASH_ENV ENV IFS SHELL CONFIG_SHELL SHELLOPTS BASHOPTS BASH_ALIASES BASH_CMDS BASH_LOADABLES_PATH BASH_XTRACEFD BASH_COMPAT
	POSIXLY_CORRECT HISTFILE INPUTRC PS0 PS1 PS2 PS3 PS4 LESS LESSOPEN LESSCLOSE LESSKEY MORE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES
	PERL5OPT PERL5DB RUBYOPT PYTHONSTARTUP PYTHONINSPECT PYTHONWARNINGS PYTHONHOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
	TAR_OPTIONS TAPE VIMINIT EXINIT GVIMINIT LUA_INIT MANOPT PERLLIB NODE_REPL_EXTERNAL_MODULE ZDOTDIR FPATH NULLCMD READNULLCMD
	RIPGREP_CONFIG_PATH GCONV_PATH AWKPATH AWKLIBPATH MANPATH TERMINFO DOCKER_HOST DOCKER_CONFIG HOME XDG_CONFIG_HOME NODE_OPTIONS GOFLAGS
	PYTEST_ADDOPTS PYTEST_PLUGINS PYTHONOPTIMIZE MAVEN_ARGS SPEC_OPTS TESTOPTS GOENV RUSTFLAGS PYTHONBREAKPOINT CFLAGS CXXFLAGS LDFLAGS`)
	// resolutionVariables lists the variables that change how the shell looks up programs.
	resolutionVariables = setOf("BASH_ALIASES BASH_CMDS NULLCMD READNULLCMD PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_ENV ENV SHELLOPTS BASHOPTS")
	// zshArrays lists the arrays that zsh uses to look up programs. In bash, they are ordinary
	// variables.
	zshArrays = setOf("functions dis_functions commands aliases dis_aliases galiases dis_galiases saliases dis_saliases path fpath module_path")
)

// steers reports whether the named variable affects which programs run.
func steers(name string) bool {
	switch {
	case runVariables[name] || steeringVariables[name]:
		return true
	case begins(name, "GIT_AUTHOR_ GIT_COMMITTER_ GIT_TERMINAL_PROMPT GIT_TRACE GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS GIT_LFS_SKIP_SMUDGE"):
		return false
	}
	return strings.HasSuffix(name, "_functions") || begins(name, "LD_ DYLD_ GIT_ npm_config_ NPM_CONFIG_ BASH_FUNC_ LUA_INIT CARGO_TARGET_ CARGO_BUILD_")
}

// inertSettings matches values of the variables in steeringFlags. A matching value does not make a
// program run another program.
var inertSettings = regexp.MustCompile(`^(--max[-_]old[-_]space[-_]size=[0-9]+|--no-warnings|-mod=(mod|readonly|vendor)|-count=1|-v|-race|-C debuginfo=[0-2]|-D ?warnings|--color=(yes|no|auto)|-q+|-v+|--tb=[a-z]+|-O[0-3s]|-g|-Wall|[ ])+$`)

// isInertSetting reports whether the named variable with the given value certainly does not make a
// program run another program. It returns false for variables that are not in steeringFlags.
func isInertSetting(name string, value arg) bool {
	return steeringFlags[name] && value.kind == literal && inertSettings.MatchString(value.text)
}

// steeringFlags lists the environment variables whose values are command-line options for a
// program.
var steeringFlags = setOf("NODE_OPTIONS GOFLAGS PYTEST_ADDOPTS RUSTFLAGS CFLAGS CXXFLAGS LDFLAGS")

// A variable is inert if it does not make any program run anything. The following tables list the
// values, names and name endings of variables that are assumed to be inert.
var (
	inertValues    = setOf("true false yes no on off none always never auto")
	inertVariables = setOf(`
	NODE_ENV RAILS_ENV RACK_ENV APP_ENV FLASK_ENV FLASK_APP DJANGO_SETTINGS_MODULE ENVIRONMENT PORT HOST HOSTNAME CI DEBUG LOG_LEVEL VERBOSE
	LANG LANGUAGE TZ TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TMPDIR TEMP TMP USER LOGNAME PWD OLDPWD GOOS
	GOARCH GOARM GOAMD64 GOMAXPROCS GOGC GOMEMLIMIT GOTRACEBACK GO111MODULE CGO_ENABLED GOCACHE GODEBUG GOEXPERIMENT GOPRIVATE RUST_LOG
	RUST_BACKTRACE PYTHONPATH PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 PIP_INDEX_URL AWS_PROFILE
	AWS_REGION AWS_DEFAULT_REGION AWS_DEFAULT_OUTPUT COMPOSE_PROJECT_NAME DOCKER_BUILDKIT BUILDKIT_PROGRESS SOURCE_DATE_EPOCH
	DEBIAN_FRONTEND PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSSLMODE MYSQL_PWD TOKEN VERSION TF_LOG VIRTUAL_ENV_DISABLE_PROMPT
	HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy`)
	inertEnds = setOf("_URL _URI _DSN _TOKEN _KEY _SECRET _PASSWORD _USER _USERNAME _PORT _HOST _LEVEL _ENV _REGION _TIMEOUT _DEBUG _VERSION _ID")
)

// isInertVariable reports whether a variable with this name and value is assumed to be inert. It
// also returns true for variables that affect which programs run, because [scope.assigned] handles
// these variables.
func isInertVariable(name string, value arg) bool {
	if value.kind == literal && (inertValues[strings.ToLower(value.text)] || strings.Trim(value.text, "0123456789.") == "") {
		return true
	}
	end := name[max(0, strings.LastIndexByte(name, '_')):]
	return inertVariables[name] || inertEnds[end] || steers(name) || begins(name, "LC_ TF_VAR_ GIT_")
}

// ownVariables lists the variables set by bash or zsh itself.
var ownVariables = setOf("PWD OLDPWD REPLY OPTARG PPID UID EUID GROUPS DIRSTACK HOSTNAME PIPESTATUS COLUMNS LINES SHLVL COPROC HISTCMD argv status pipestatus")
