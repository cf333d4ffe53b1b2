package shell

import (
	"regexp"
	"strings"
)

// variables is what is known about the variables of a script. bash evaluates the *value* of a
// variable in arithmetic as an expression, and runs commands in its array indices: x='a[$(rm y)]';
// echo $((x)). It also expands a value again that declare or a similar builtin assigns to an array:
// declare -a x='($(rm y))'.
type variables struct {
	facts        map[string]fact
	wild         bool  // any variable may get any value
	commandIndex bool  // some text has an array index with a command in it
	tests        bool  // test or [ has an operand that is not literal
	made         bool  // make gets a value that is not literal
	shells       bool  // some text may call a function of make
	given        bool  // the current command gets a variable that is not known to be inert
	exported     bool  // all later programs get such a variable
	allexport    bool  // set -a exports all variables
	passed       []arg // values of exported variables

	values         // in the current shell
	expanded  int  // bytes of all expansions so far
	relays    set  // functions that use their arguments
	looked    int  // nodes visited by effectsOf so far
	never     set  // variables whose value cannot be known
	fixed     set  // variables that may be read-only
	customIFS bool // expansions may be split at characters other than blanks
	resets    bool // a trap may set the arguments of functions
	unbound   bool // no value is certain any more: a function, a sourced file or a builtin may set variables
}

// A fact is a set of properties of a variable.
type fact uint8

const (
	free     fact = 1 << iota // may hold something other than a number
	computed                  // is evaluated in arithmetic
	isArray                   // is an array
	filled                    // gets a value from declare that is not literal
)

// note adds the fact f about a variable.
func (v *variables) note(name string, f fact) {
	if v.facts == nil {
		v.facts = make(map[string]fact)
	}
	v.facts[name] |= f
}

// settle adds the doubts that depend on the whole script.
func (v *variables) settle(r *reader) {
	evaluated, array := v.tests && v.commandIndex, false // x=-v; y='a[$(rm z)]'; [ $x $y ]
	for name, f := range v.facts {
		evaluated = evaluated || f&computed != 0 && (f&free != 0 || implicitVariables[name] || v.wild && isName(name))
		array = array || f&isArray != 0 && f&filled != 0
	}
	if evaluated {
		r.arithmeticOn("arithmetic on text")
	}
	if array {
		r.arrayOf("an array that is read from text")
	}
	if v.made && v.shells {
		r.doubtAll("a text that make expands")
	}
	if v.exported {
		r.doubtObeyed(r.commands)
	}
}

// arithmeticOn adds a doubt that bash evaluates a text as arithmetic, where an array index may run
// a command. The doubt concerns all commands only if the script has such a text.
func (r *reader) arithmeticOn(what string) {
	if mayHaveCommandIndex(r.outermost) {
		r.doubtAll(what)
		return
	}
	r.doubtStrict(what)
}

// arrayOf adds a doubt that bash expands a text again, as the elements of an array.
func (r *reader) arrayOf(what string) {
	if strings.Contains(r.outermost, "$(") || strings.Contains(r.outermost, "`") || strings.Contains(r.outermost, "<(") {
		r.doubtAll(what)
		return
	}
	r.doubtStrict(what)
}

// mayHaveCommandIndex reports whether a script may have quoted text with a command in it, as in
// x='a[$(rm y)]'.
func mayHaveCommandIndex(script string) bool {
	return strings.Contains(script, "[") && (strings.Contains(script, "$(") || strings.Contains(script, "`") || strings.Contains(script, "${"))
}

// compute records that arithmetic evaluates and may assign a variable.
func (r *reader) compute(name string) {
	if steers(name) {
		r.doubtStrict("a variable that changes what is run: " + name) // ((PATH=1))
	}
	r.vars.unbind(name)
	if name == "IFS" {
		r.assigned(name, arg{kind: anything})
	}
	r.vars.note(name, computed)
}

// assigned records that a variable gets a value.
func (r *reader) assigned(name string, value arg) {
	r.vars.unbind(name)
	if name == "IFS" { // it is unknown how expansions are split
		r.vars.forget()
		r.vars.unbound, r.vars.customIFS = true, true
	}
	if name == "argv" { // argv holds the arguments in zsh
		r.vars.setArguments(nil, false)
	}
	r.vars.commandIndex = r.vars.commandIndex || hasCommandIndex(value.text) || hasCommandIndex(value.tail)
	r.vars.shells = r.vars.shells || strings.Contains(value.text, "$")
	if r.vars.allexport && !isInertVariable(name, value) {
		r.vars.exported = true
		r.vars.passed = append(r.vars.passed, value)
	}
	switch {
	case runVariables[name] && value.kind == literal:
		r.tentativeScript(value.text)
	case respells[name], strings.HasSuffix(name, "_functions"):
		r.sideEffects = true
		r.doubtAll("a variable that changes what is run: " + name)
	case steers(name) && !isInertSetting(name, value):
		r.sideEffects = true
		r.doubtStrict("a variable that changes what is run: " + name)
		r.mentions.add([]arg{value}, len(r.doubts)-1)
	}
	if isInteger(value) {
		return
	}
	r.vars.note(name, free)
	if counters[name] {
		r.arithmeticOn("arithmetic on text") // RANDOM='a[$(rm y)]'
	}
}

// hasCommandIndex reports whether a text may have an array index with a command in it.
func hasCommandIndex(text string) bool {
	return strings.Contains(text, "[") && (strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${"))
}

// isInteger reports whether a value is a plain number in arithmetic.
func isInteger(a arg) bool {
	return a.kind == literal && strings.Trim(a.text, "+-0123456789") == ""
}

var (
	// implicitVariables are those that bash itself sets to text from the script.
	implicitVariables = setOf("_ REPLY MAPFILE BASH_REMATCH BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0 BASH_SOURCE FUNCNAME")
	// counters are variables for which bash evaluates each assigned value as arithmetic.
	counters = setOf("RANDOM SRANDOM SECONDS OPTIND HISTCMD LINENO BASHPID BASH_SUBSHELL BASH_MONOSECONDS EPOCHSECONDS EPOCHREALTIME")
	// runVariables are variables whose value some program runs as a command.
	runVariables = setOf(`
	PAGER EDITOR VISUAL MANPAGER BROWSER GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS
	SUDO_ASKPASS SUDO_EDITOR RSYNC_RSH CVS_RSH SYSTEMD_PAGER SYSTEMD_EDITOR FCEDIT PROMPT_COMMAND GH_PAGER GH_EDITOR AWS_PAGER CC CXX CPP LD
	AR AS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC PSQL_PAGER KUBE_EDITOR MAKE CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER`)
	// steeringVariables are variables that change in other ways what is run.
	steeringVariables = setOf(`
	PATH BASH_ENV ENV IFS SHELL CONFIG_SHELL SHELLOPTS BASHOPTS BASH_ALIASES BASH_CMDS BASH_LOADABLES_PATH BASH_XTRACEFD BASH_COMPAT
	POSIXLY_CORRECT HISTFILE INPUTRC PS0 PS1 PS2 PS3 PS4 LESS LESSOPEN LESSCLOSE LESSKEY MORE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES
	PERL5OPT PERL5DB RUBYOPT PYTHONSTARTUP PYTHONINSPECT PYTHONWARNINGS PYTHONHOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
	TAR_OPTIONS TAPE VIMINIT EXINIT GVIMINIT LUA_INIT MANOPT PERLLIB NODE_REPL_EXTERNAL_MODULE ZDOTDIR FPATH NULLCMD READNULLCMD
	RIPGREP_CONFIG_PATH GCONV_PATH AWKPATH AWKLIBPATH MANPATH TERMINFO DOCKER_HOST DOCKER_CONFIG HOME XDG_CONFIG_HOME NODE_OPTIONS GOFLAGS
	PYTEST_ADDOPTS PYTEST_PLUGINS PYTHONOPTIMIZE MAVEN_ARGS SPEC_OPTS TESTOPTS GOENV RUSTFLAGS PYTHONBREAKPOINT CFLAGS CXXFLAGS LDFLAGS`)
	// respells are variables that change how the shell resolves command words.
	respells = setOf("BASH_ALIASES BASH_CMDS NULLCMD READNULLCMD PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_ENV ENV SHELLOPTS BASHOPTS")
	// zshArrays are the arrays in which zsh looks up command words. As scalars they are ordinary
	// variables, in bash as well.
	zshArrays = setOf("functions dis_functions commands aliases dis_aliases galiases dis_galiases saliases dis_saliases path fpath module_path")
)

// steers reports whether a variable changes what is run.
func steers(name string) bool {
	switch {
	case runVariables[name] || steeringVariables[name]:
		return true
	case begins(name, "GIT_AUTHOR_ GIT_COMMITTER_ GIT_TERMINAL_PROMPT GIT_TRACE GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS GIT_LFS_SKIP_SMUDGE"):
		return false
	}
	return strings.HasSuffix(name, "_functions") || begins(name, "LD_ DYLD_ GIT_ npm_config_ NPM_CONFIG_ BASH_FUNC_ LUA_INIT CARGO_TARGET_ CARGO_BUILD_")
}

// inertSettings matches values of steeringFlags that make no program run another.
var inertSettings = regexp.MustCompile(`^(--max[-_]old[-_]space[-_]size=[0-9]+|--no-warnings|-mod=(mod|readonly|vendor)|-count=1|-v|-race|-C debuginfo=[0-2]|-D ?warnings|--color=(yes|no|auto)|-q+|-v+|--tb=[a-z]+|-O[0-3s]|-g|-Wall|[ ])+$`)

// isInertSetting reports whether a variable is one of the steeringFlags and has an inert value.
func isInertSetting(name string, value arg) bool {
	return (steeringFlags[name]) && value.kind == literal && inertSettings.MatchString(value.text)
}

// steeringFlags are the variables that hold command-line options for a program.
var steeringFlags = setOf("NODE_OPTIONS GOFLAGS PYTEST_ADDOPTS RUSTFLAGS CFLAGS CXXFLAGS LDFLAGS")

// tentativeScript reads a text as a script that a program may run.
func (r *reader) tentativeScript(text string) {
	defer func(before bool) { r.tentative = before }(r.tentative)
	defer otherShell(r)()
	r.flow.mask(started)
	r.tentative = true
	r.script(text)
}

// otherShell enters a part that runs in another process: the variables and options that it sets are
// lost when the process ends. Call leave at the end of the part.
func otherShell(r *reader) (leave func()) {
	flow, before := r.flow, r.vars.values
	r.vars.values = before.clone()
	r.vars.lost = nil
	return func() { r.flow, r.vars.values = flow, before }
}

// isName reports whether a text is the name of a variable.
func isName(s string) bool {
	return s != "" && strings.Trim(s, nameLetters+"0123456789") == "" && strings.Trim(s[:1], nameLetters) == ""
}

const nameLetters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// given records that programs get a variable in their environment. Unless the variable is known to
// be inert, it is uncertain what programs that obey variables do with it.
func (r *reader) given(name string, value arg) {
	if !isInertVariable(name, value) {
		r.vars.given = true
		r.vars.passed = append(r.vars.passed, value)
	}
}

// doubtObeyed adds a doubt if one of the commands may obey an environment variable.
func (r *reader) doubtObeyed(commands []command) {
	for i := range commands {
		if !isSelfContained(commands[i].name) {
			r.sideEffects = true
			r.doubtMild("a variable that a program may obey")
			if !r.strict {
				r.mentions.add(r.vars.passed, len(r.doubts)-1)
			}
			return
		}
	}
}

// What makes no program run anything: values, names of variables, and endings of such names.
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

// isInertVariable reports whether a variable makes no program run anything. For variables that
// steer programs it returns true as well, since assigned adds their doubts.
func isInertVariable(name string, value arg) bool {
	if value.kind == literal && (inertValues[strings.ToLower(value.text)] || strings.Trim(value.text, "0123456789.") == "") {
		return true
	}
	end := name[max(0, strings.LastIndexByte(name, '_')):]
	return inertVariables[name] || inertEnds[end] || steers(name) || begins(name, "LC_ TF_VAR_ GIT_")
}

// begins reports whether a text begins with one of the space-separated words.
func begins(text, words string) bool {
	for word := range strings.FieldsSeq(words) {
		if strings.HasPrefix(text, word) {
			return true
		}
	}
	return false
}

var (
	// selfContained run nothing that their environment, their configuration or another file names.
	selfContained = setOf(`
	export declare typeset local readonly set shopt unset read mapfile readarray getopts wait printf eval trap let alias unalias hash env
	genv sudo doas nice ionice nohup timeout gtimeout time stdbuf setsid command builtin exec xargs find fd sed gsed awk gawk mawk sort jq`)
	// configurable do, although they run none of their arguments.
	configurable = setOf(`
	zgrep pytest eslint prettier tsc ruff black mypy flake8 isort gofmt goimports rustfmt clang-format clang-tidy javac shellcheck shfmt
	golangci-lint staticcheck vite next jest vitest mocha pyright protoc redis-cli open xdg-open yum dnf apk pacman snap service rimraf
	trash journalctl modprobe sysctl top htop useradd usermod mount umount apt-cache curl`)
)

// isSelfContained reports whether a program runs nothing that its environment, its configuration or
// another file names.
func isSelfContained(name string) bool {
	return selfContained[name] || programs[name].free || plainPrograms[name] && !configurable[name]
}
