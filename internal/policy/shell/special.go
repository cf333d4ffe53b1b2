package shell

import "strings"

// readSpecial reads the programs that run something in a way of their own; it
// reports false for any other.
func readSpecial(r *reader, name string, args []arg) bool {
	switch name {
	case "find", "gfind", "bfs":
		readFind(r, args)
	case "fd", "fdfind":
		readFd(r, args)
	case "xargs", "gxargs":
		readXargs(r, args)
	case "git":
		readGit(r, args)
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "lxc", "incus", "ip", "vagrant", "heroku", "fly", "flyctl", "gcloud", "multipass", "wsl", "adb":
		return readContainer(r, args)
	case "npx", "bunx", "pnpx", "uvx", "pipx", "poetry", "pipenv", "uv", "conda", "mamba", "micromamba", "pixi", "hatch", "pdm", "rye", "bundle", "bundler", "rbenv",
		"pyenv", "nvm", "mise", "asdf", "rtx", "volta", "fnm", "nix", "nix-shell", "devbox", "guix", "firejail", "bwrap", "proot",
		"perf", "hyperfine", "entr", "rr", "cgexec", "start-stop-daemon", "daemonize", "chronic", "mosh", "op", "doppler", "sops", "aws-vault", "envdir",
		"setuidgid", "softlimit", "torsocks", "proxychains", "proxychains4", "concurrently", "nodemon", "dotenvx", "cross-env", "env-cmd", "watchexec", "lxc-attach", "machinectl", "torify", "trickle", "cpulimit", "schedtool", "runcon", "unionfs", "schroot", "eatmydata", "faketime", "tsocks", "cargo-watch", "reflex":
		readLauncher(r, args)
		return false
	case "npm", "pnpm", "yarn", "bun", "deno", "go", "cargo", "make", "gmake", "just", "task", "ninja", "rake", "gradle", "mvn":
		readBuilder(r, name, args)
		return !isRunner(name)
	case "tmux", "screen", "at", "batch", "crontab", "byobu", "zellij", "run-parts", "socat", "ncat", "nc", "netcat", "ed", "red", "ftp", "lftp", "telnet", "newgrp", "login", "emacs", "emacsclient", "ex", "vipe",
		"parallel", "su", "runuser", "script", "flock", "sg", "pkexec", "toybox", "numactl", "setarch", "linux32", "linux64", "prlimit", "setpriv", "unshare", "nsenter", "ltrace", "systemd-inhibit", "dbus-run-session", "xvfb-run", "fakeroot", "unbuffer", "rlwrap", "chpst", "catchsegv", "winpty", "caffeinate", "arch", "noglob", "nocorrect", "repeat", "autossh", "ssh-agent", "fakechroot", "ccache", "sccache", "distcc", "dumb-init", "tini", "gosu", "su-exec", "dotenv", "valgrind":
		r.unsure("a program that runs what it is told: " + name)
	default:
		return readTool(r, name, args)
	}
	return true
}

// readTool reads the programs that can run a command if their text or an option says so.
func readTool(r *reader, name string, args []arg) bool {
	switch name {
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		readAwk(r, args)
	case "sed", "gsed":
		readSed(r, args)
	default:
		if _, ok := tellingOptions[name]; !ok {
			return false
		}
		readTelling(r, name, args)
	}
	return true
}

// readTelling reads programs that run a command only if an option tells them to.
func readTelling(r *reader, name string, args []arg) {
	if strings.HasSuffix(name, "tar") && len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && strings.ContainsAny(args[0].text, "IF") {
		r.unsure("an option that may run a command") // tar cIf PROGRAM a b
	}
	switch name {
	case "sqlite3", "duckdb":
		readClientArgs(r, args)
	case "psql":
		for i, a := range args {
			if (a.text == "-f" || a.text == "--file") && i+1 < len(args) {
				readScriptFile(r, args[i+1])
			}
		}
	}
	for i, a := range args {
		for _, o := range strings.Fields(tellingOptions[name]) {
			if tells(a, o) {
				readTellingOption(r, name, o, args[i:])
				break
			}
		}
	}
}

// tells reports whether an argument can be an option. One with a long name may
// be cut short and have its value attached; one with a letter may stand among others.
func tells(a arg, option string) bool {
	text, _, with := strings.Cut(a.text, "=")
	switch {
	case a.kind > single:
		return false // file names, most of the time
	case strings.HasPrefix(option, "--"):
		return len(text) > 3 && strings.HasPrefix(option, text) && (a.kind == literal || with)
	case strings.HasPrefix(option, "-"):
		return len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' && strings.Contains(a.text, option[1:])
	}
	return strings.Contains(a.text, option)
}

// readTellingOption reads the command that an option is told to run, where it is plain.
func readTellingOption(r *reader, name, option string, args []arg) {
	_, value, with := strings.Cut(args[0].text, "=")
	switch {
	case !strings.Contains(commandOptions, " "+option+" "), option == "-e" && name != "rsync":
		r.unsure("an option that may run a command")
	case with && strings.HasPrefix(option, "--") && args[0].kind == literal:
		r.script(value)
	case args[0].text == option && len(args) > 1:
		r.text(args[1])
	default:
		r.unsure("an option that runs a command")
	}
}

// commandOptions are those of the options below whose value is a command line
// and nothing else.
const commandOptions = " --to-command --use-compress-program -I --rsh --rsync-path -e --compress-program --filter --pre -P --pager "

// tellingOptions are the options that name a command to run, or open a way to one.
var tellingOptions = eachName(map[string]string{
	"tar,gtar":                 "--to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script -I -F",
	"ack,ag,bat,batcat":        "--pager",
	"bsdtar":                   "--use-compress-program",
	"rsync":                    "--rsh --rsync-path -e",
	"scp":                      "-S -o -F -D",
	"sftp":                     "-S -o -F -b -D",
	"sort":                     "--compress-program",
	"split":                    "--filter",
	"rg":                       "--pre --hostname-bin",
	"zip":                      "-T --unzip-command",
	"tcpdump":                  "-z",
	"man":                      "-P --pager -H --html -C --config-file",
	"less":                     "+ -k -o --lesskey --lesskey-src --lesskey-content --cmd",
	"more,most":                "+",
	"vi,vim,view,gvim,vimdiff": "-c + -S --cmd -s -es -u -i",
	"nvim":                     "-c + -S --cmd -s -es -u -i --headless -l",
	"wget":                     "--use-askpass -e --execute",
	"convert":                  "| msl: ephemeral:",
	"patch":                    "-e --ed",
	"openssl":                  "-engine -provider engine",
	"dpkg":                     "--pre-invoke --post-invoke -D",
	"rpm":                      "--eval -E --define -D --pipe",
	"ansible":                  "-m --module-name -a --args",
	"psql":                     "\\! PROGRAM program \\| \\o \\g",
	"mysql":                    "\\! system --pager",
	"ssh-copy-id":              "-o -F",
	"sshfs":                    "ssh_command -o",
	"gh":                       "--extension alias",
	"gpg":                      "--exec-path --photo-viewer",
	"ssh-keygen":               "-D -w -P11",
	"info,ctags,pip,pip3,terraform,jq,cscope,sqlite3,duckdb,ffmpeg": "",
})

// readFind reads the commands of -exec and its kin.
func readFind(r *reader, args []arg) {
	unknown, ends := 0, 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.kind == anything:
			r.unsure("an expression of find that is not literal")
			return
		case a.kind == literal && isExec(a.text):
			n := execEnd(args[i+1:])
			r.run(replaced(args[i+1:i+1+n], "{}"), nil)
			i += n + 1
		case a.kind == literal && (a.text == ";" || a.text == "+"):
			ends++
		case a.kind != literal && a.may("-exec") || a.kind != literal && a.may("-ok"):
			unknown++
		}
	}
	if unknown > 1 || unknown == 1 && ends > 0 {
		r.unsure("an expression of find that is not literal")
	}
}

func isExec(s string) bool {
	return s == "-exec" || s == "-execdir" || s == "-ok" || s == "-okdir"
}

// execEnd returns how many arguments the command of -exec has.
func execEnd(args []arg) int {
	for i, a := range args {
		if a.kind == literal && (a.text == ";" || a.text == "+" && i > 0 && args[i-1].text == "{}") {
			return i
		}
	}
	return len(args)
}

// replaced returns the arguments with what stands for a file name made unknown.
func replaced(args []arg, mark string) []arg {
	out := make([]arg, len(args))
	for i, a := range args {
		out[i] = a
		if before, after, ok := strings.Cut(a.text, mark); ok && a.kind == literal {
			if j := strings.LastIndex(after, mark); j >= 0 {
				after = after[j+len(mark):]
			}
			out[i] = arg{kind: single, text: before, tail: after}
		}
	}
	return out
}

// readFd runs a command with -x and -X, and with what may be one of them.
func readFd(r *reader, args []arg) {
	for _, a := range args {
		switch {
		case a.kind > single:
			r.unsure("an option that is not literal")
			return
		case a.text == "--":
			return
		case strings.HasPrefix(a.text, "-") && (strings.ContainsAny(a.text, "xX") || strings.HasPrefix(a.text, "--e")):
			if !strings.HasPrefix(a.text, "--ex") || strings.HasPrefix(a.text, "--exec") {
				r.unsure("an option that runs a command")
			}
		}
	}
}

// xargsForm is how xargs reads its options; -i, -e and -l take a value only if attached.
var xargsForm = form{
	flags:  "0oprtx",
	values: "adEILnPsRJS",
	long:   "--null --open-tty --interactive --no-run-if-empty --verbose --exit --arg-file= --delimiter= --max-args= --max-procs= --max-lines= --max-chars= --replace= --process-slot-var= --show-limits",
}

// readXargs reads the command that xargs runs with arguments which are not known.
func readXargs(r *reader, args []arg) {
	found, rest, ok := xargsForm.options(args)
	if !ok {
		r.unsure("xargs with options that are not known")
		return
	}
	for _, o := range found {
		switch o.name {
		case "--process-slot-var":
			r.unsure("a variable whose name is not literal")
		case "I", "J", "R", "--replace":
			if o.value.kind != literal || o.value.text == "" {
				r.unsure("a mark that is not literal")
				return
			}
			if len(rest) > 0 {
				r.run(append(replaced(rest, o.value.text), arg{kind: anything}), nil)
			}
			return
		}
	}
	if len(rest) > 0 {
		if _, ok := clients[rest[0].text]; ok {
			r.unsure("statements from the input")
		}
		r.run(append(rest[:len(rest):len(rest)], arg{kind: anything}), nil)
	}
}

// readContainer reads what is run in a container: after exec, run and their kin, any
// word may be the command. It reports whether nothing of the kind is among the arguments.
func readContainer(r *reader, args []arg) bool {
	for i, a := range args {
		switch a.kind {
		case anything:
			r.unsure("a subcommand that is not literal")
			return false
		case literal:
			switch a.text {
			case "exec", "run", "debug", "shell", "ssh", "attach", "-e", "--exec":
				r.possibly(args[i+1:])
				return false
			}
		}
	}
	return true
}

// readLauncher reads programs of which any argument may begin a command.
func readLauncher(r *reader, args []arg) {
	r.recognized = true
	for _, a := range args {
		if a.kind == literal && strings.ContainsAny(a.text, " ;|&$`") {
			r.unsure("an argument that may be a script")
		}
	}
	r.possibly(args)
}
