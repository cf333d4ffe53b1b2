package shell

// isPlainProgram reports whether a program, or a builtin, runs none of its arguments.
func isPlainProgram(name string) bool {
	switch name {
	case ":", "true", "false", "cd", "pwd", "pushd", "popd", "dirs", "echo", "exit", "return", "break", "continue", "shift", "type", "which", "whereis",
		"umask", "ulimit", "kill", "killall", "pkill", "pgrep", "bg", "fg", "disown", "times", "help", "logout", "suspend", "caller", "sleep", "usleep",
		"ls", "dir", "vdir", "cat", "tac", "head", "tail", "wc", "nl", "od", "xxd", "hexdump", "strings", "cut", "paste", "tr", "fold", "fmt", "column", "expand",
		"unexpand", "uniq", "comm", "join", "diff", "diff3", "cmp", "colordiff", "grep", "egrep", "fgrep", "zgrep", "ggrep", "look", "rev", "shuf",
		"seq", "yes", "factor", "bc", "expr", "basename", "dirname", "realpath", "readlink", "stat", "file", "du", "df", "free", "uptime", "uname", "hostname",
		"whoami", "id", "groups", "who", "w", "last", "date", "cal", "tty", "stty", "tput", "clear", "reset", "printenv", "locale", "nproc", "lscpu", "lsblk",
		"lsof", "ps", "top", "htop", "vmstat", "iostat", "dmesg", "journalctl", "cp", "mv", "rm", "rmdir", "mkdir", "touch", "ln", "link", "unlink", "chmod", "chown",
		"chgrp", "chattr", "lsattr", "truncate", "shred", "dd", "tee", "sync", "mktemp", "mkfifo", "mknod", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "cksum", "sum",
		"b2sum", "shasum", "base64", "base32", "gzip", "gunzip", "zcat", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat", "zstd", "unzstd", "zstdcat", "lz4", "unzip", "zipinfo", "7z",
		"curl", "ping", "dig", "nslookup", "host", "traceroute", "ifconfig", "netstat", "ss", "whois", "tree", "exa", "eza", "yq", "xmllint", "tidy", "iconv", "dos2unix",
		"unix2dos", "nm", "objdump", "readelf", "size", "strip", "pstree", "mount", "umount", "service", "useradd", "usermod", "passwd", "logger", "getent",
		"apt-cache", "yum", "dnf", "apk", "pacman", "snap", "pytest", "eslint", "prettier", "tsc", "ruff", "black", "mypy", "flake8", "isort", "gofmt", "goimports",
		"rustfmt", "clang-format", "clang-tidy", "javac", "shellcheck", "shfmt", "golangci-lint", "staticcheck", "vite", "next", "jest", "vitest", "mocha",
		"pyright", "protoc", "redis-cli", "open", "xdg-open", "pbcopy", "pbpaste", "xclip", "lsb_release", "sysctl", "modprobe", "lsmod", "trash", "rimraf", "shutdown", "reboot", "fdisk", "srm":
		return true
	}
	return false
}
