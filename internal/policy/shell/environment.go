package shell

import "strings"

// given notes that programs get a variable in their environment. It is opaque
// what those do with it that may obey variables, unless it is known to be inert.
func (r *reader) given(name string, value arg) {
	if !isInertVariable(name, value) {
		r.vars.given = true
	}
}

// obeyed notes that one of the commands may obey a variable that was given.
func (r *reader) obeyed(commands []command) {
	for i := range commands {
		if !isDeaf(commands[i].name) {
			r.unsure("a variable that a program may obey")
			return
		}
	}
}

// What makes no program run something: values, whole names of variables and the ends of names.
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

// isInertVariable reports whether a variable makes no program run something.
// What a variable does that steers one is read elsewhere.
func isInertVariable(name string, value arg) bool {
	if value.kind == literal && (inertValues[strings.ToLower(value.text)] || strings.Trim(value.text, "0123456789.") == "") {
		return true
	}
	return inertVariables[name] || steers(name) || begins(name, "LC_ TF_VAR_ GIT_") || inertEnds[name[max(0, strings.LastIndexByte(name, '_')):]]
}

// begins reports whether a text begins with one of the words.
func begins(text, words string) bool {
	for word := range strings.FieldsSeq(words) {
		if strings.HasPrefix(text, word) {
			return true
		}
	}
	return false
}

var (
	// deafPrograms run nothing that their environment, their configuration or another file tells them to run,
	deafPrograms = setOf(`
	export declare typeset local readonly set shopt unset read mapfile readarray getopts wait printf eval trap let alias unalias hash env
	genv sudo doas nice ionice nohup timeout gtimeout time stdbuf setsid command builtin exec xargs find fd sed gsed awk gawk mawk sort jq`)
	// unlike these, though they run none of their arguments.
	obeyingPrograms = setOf(`
	zgrep pytest eslint prettier tsc ruff black mypy flake8 isort gofmt goimports rustfmt clang-format clang-tidy javac shellcheck shfmt
	golangci-lint staticcheck vite next jest vitest mocha pyright protoc redis-cli open xdg-open yum dnf apk pacman snap service rimraf
	trash journalctl modprobe sysctl top htop useradd usermod mount umount apt-cache curl`)
)

// isDeaf reports whether a program runs nothing that its environment, its
// configuration or another file tells it to run.
func isDeaf(name string) bool {
	return deafPrograms[name] || programs[name].free || plainPrograms[name] && !obeyingPrograms[name]
}
