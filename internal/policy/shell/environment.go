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

// isInertVariable reports whether a variable makes no program run something.
func isInertVariable(name string, value arg) bool {
	if steers(name) {
		return true // what it does is read elsewhere
	}
	if value.kind == literal {
		switch strings.ToLower(value.text) {
		case "", "true", "false", "yes", "no", "on", "off", "none", "always", "never", "auto":
			return true
		}
		if strings.Trim(value.text, "0123456789.") == "" {
			return true
		}
	}
	switch name {
	case "NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "FLASK_APP", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "PORT", "HOST", "HOSTNAME", "CI", "DEBUG", "LOG_LEVEL", "VERBOSE",
		"LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TMPDIR", "TEMP", "TMP", "USER", "LOGNAME", "PWD", "OLDPWD",
		"GOOS", "GOARCH", "GOARM", "GOAMD64", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GO111MODULE", "CGO_ENABLED", "GOCACHE", "GODEBUG", "GOEXPERIMENT", "GOPRIVATE",
		"RUST_LOG", "RUST_BACKTRACE", "PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PIP_INDEX_URL",
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_DEFAULT_OUTPUT", "COMPOSE_PROJECT_NAME", "DOCKER_BUILDKIT", "BUILDKIT_PROGRESS", "SOURCE_DATE_EPOCH", "DEBIAN_FRONTEND",
		"PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGSSLMODE", "MYSQL_PWD", "TOKEN", "VERSION", "TF_LOG", "VIRTUAL_ENV_DISABLE_PROMPT", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy":
		return true
	}
	if strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "TF_VAR_") || strings.HasPrefix(name, "GIT_") {
		return true // of GIT_*, those that run something are in another table
	}
	for _, end := range []string{"_URL", "_URI", "_DSN", "_TOKEN", "_KEY", "_KEY_ID", "_SECRET", "_PASSWORD", "_USER", "_USERNAME", "_PORT", "_HOST", "_LEVEL", "_ENV", "_REGION", "_TIMEOUT", "_DEBUG", "_VERSION", "_ID"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isDeaf reports whether a program runs nothing that its environment, its
// configuration or another file tells it to run.
func isDeaf(name string) bool {
	switch name {
	case "export", "declare", "typeset", "local", "readonly", "set", "shopt", "unset", "read", "mapfile", "readarray", "getopts", "wait", "printf", "eval", "trap", "let", "alias", "unalias", "hash",
		"env", "genv", "sudo", "doas", "nice", "ionice", "nohup", "timeout", "gtimeout", "time", "stdbuf", "setsid", "command", "builtin", "exec", "xargs", "find", "fd", "sed", "gsed", "awk", "gawk", "mawk", "sort", "jq":
		return true
	}
	return programs[name].free || isPlainProgram(name) && !obeysFiles(name)
}

// obeysFiles reports whether a program that runs none of its arguments runs, or
// loads, what its configuration or its environment tells it.
func obeysFiles(name string) bool {
	switch name {
	case "zgrep", "pytest", "eslint", "prettier", "tsc", "ruff", "black", "mypy", "flake8", "isort", "gofmt", "goimports", "rustfmt", "clang-format", "clang-tidy", "javac", "shellcheck", "shfmt",
		"golangci-lint", "staticcheck", "vite", "next", "jest", "vitest", "mocha", "pyright", "protoc", "redis-cli", "open", "xdg-open", "yum", "dnf", "apk", "pacman", "snap", "service", "rimraf",
		"trash", "journalctl", "modprobe", "sysctl", "top", "htop", "useradd", "usermod", "mount", "umount", "apt-cache", "curl":
		return true
	}
	return false
}
