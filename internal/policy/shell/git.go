package shell

import (
	"slices"
	"strings"
)

// readGit reads the options of git that run a command, and those of its subcommands.
func readGit(r *reader, args []arg) {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.kind > single, a.kind == single && !strings.HasPrefix(a.text, "--"):
			r.unsure("a subcommand that is not literal")
			return
		case a.text == "-c" && len(args) > 1:
			readGitSetting(r, args[1])
			args = args[1:]
		case a.text == "-C" && len(args) > 1 || (a.text == "--git-dir" || a.text == "--work-tree" || a.text == "--namespace") && len(args) > 1:
			if args[1].kind > single {
				r.unsure("a subcommand that is not literal")
				return
			}
			args = args[1:]
		case strings.HasPrefix(a.text, "-"):
			if !isGitFlag(a.text) {
				r.unsure("an option that changes what is run")
				return
			}
		default:
			readGitCommand(r, a.text, args[1:])
			return
		}
		args = args[1:]
	}
}

// isGitFlag reports whether an option before the subcommand runs nothing, and
// has no value of its own. Behind one that had, the next word would not be the
// subcommand.
func isGitFlag(text string) bool {
	switch name, _, _ := strings.Cut(text, "="); name {
	case "--git-dir", "--work-tree", "--namespace":
		return true
	}
	switch text {
	case "-v", "--version", "-h", "--help", "-p", "--paginate", "-P", "--no-pager", "--bare", "--no-optional-locks", "--literal-pathspecs", "--exec-path":
		return true
	}
	return false
}

// readGitCommand reads the arguments of a subcommand.
func readGitCommand(r *reader, name string, args []arg) {
	switch name {
	case "config":
		readGitConfig(r, args)
		return
	case "bisect":
		if len(args) > 0 && args[0].text == "run" {
			r.run(args[1:], nil)
		}
		if len(args) > 0 && (args[0].text == "visualize" || args[0].text == "view") {
			r.unsure("a subcommand that runs what it is told")
		}
		return
	case "submodule":
		readGitForeach(r, args)
		return
	case "filter-branch", "submodule--helper", "difftool", "mergetool", "send-email", "instaweb", "daemon", "shell", "credential", "upload-pack", "receive-pack", "for-each-repo", "hook", "maintenance", "remote-ext", "remote-fd", "p4", "svn", "cvsserver", "web--browse", "help":
		if len(args) > 0 {
			r.unsure("a subcommand that runs what it is told")
		}
		return
	}
	for _, a := range args {
		readGitOption(r, name, a)
	}
	readGitKnown(r, name, args)
}

// readGitKnown reads the options of the subcommands of which some run what they are
// told. One that the table does not have may be one of them, cut short or among others.
func readGitKnown(r *reader, name string, args []arg) {
	switch name {
	case "grep", "clone", "fetch", "pull", "push", "rebase", "ls-remote", "archive", "init":
	default:
		return
	}
	known := knownPrograms()["git "+name]
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a.text == "--" && a.kind == literal:
			return
		case !strings.HasPrefix(a.text, "-") || a.text == "-":
			continue
		}
		found, n := known.option(append([]arg{a}, args...))
		for _, o := range found {
			if o.known == nil && !strings.HasPrefix(strings.TrimLeft(o.name, "-"), "no-") || o.known != nil && o.known.tells {
				r.unsure("an option that may run a command")
			}
		}
		if n == 0 && a.kind != literal {
			r.unsure("an option that is not literal")
		}
		if n == 2 {
			args = args[1:]
		}
	}
}

// readGitOption reads an argument of any subcommand.
func readGitOption(r *reader, command string, a arg) {
	option, _, _ := strings.Cut(a.text, "=")
	switch {
	case a.kind == anything && command == "rebase":
		r.unsure("an option that is not literal")
	case strings.HasPrefix(a.text, "ext::"), strings.HasPrefix(a.text, "fd::"):
		r.unsure("a remote that is a command")
	case slices.ContainsFunc([]string{"--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv", "--extcmd"}, func(o string) bool { return shortens(option, o) }),
		command == "grep" && strings.HasPrefix(a.text, "-O"), command == "rebase" && strings.HasPrefix(a.text, "-x"),
		command == "clone" && (a.text == "-u" || strings.HasPrefix(a.text, "-c")):
		r.unsure("an option that runs a command")
	}
}

// readGitForeach reads git submodule foreach, which runs a script.
func readGitForeach(r *reader, args []arg) {
	for i, a := range args {
		if a.kind == literal && a.text == "foreach" {
			rest := args[i+1:]
			for len(rest) > 0 && (rest[0].text == "--recursive" || rest[0].text == "-q" || rest[0].text == "--quiet") {
				rest = rest[1:]
			}
			r.join(rest)
			return
		}
	}
}

// readGitConfig reads git config, which can make an alias or a hook of a command.
func readGitConfig(r *reader, args []arg) {
	for i, a := range args {
		switch {
		case a.kind == literal && strings.HasPrefix(a.text, "-"):
			if !slices.Contains(gitConfigFlags, a.text) {
				r.unsure("an option of git config that may change what is run")
				return
			}
		case a.kind == literal && !strings.Contains(a.text, "."):
			if a.text == "edit" || a.text == "rename-section" {
				r.unsure("a setting that may run a command")
			}
		default:
			if len(args) > 1 && !reads(args) {
				readGitSetting(r, args[i])
			}
			return
		}
	}
}

// gitConfigFlags are the options of git config that change nothing by themselves. Read-only.
var gitConfigFlags = []string{"--global", "--system", "--local", "--worktree", "--add", "--replace-all", "--get", "--get-all", "--get-regexp", "--unset", "--unset-all", "--list", "-l", "--bool", "--show-origin"}

// reads reports whether git config only shows something.
func reads(args []arg) bool {
	for _, a := range args {
		if a.kind != literal {
			return false
		}
	}
	switch args[0].text {
	case "get", "list", "--get", "--get-all", "--list", "-l", "--get-regexp", "unset", "--unset":
		return true
	}
	return false
}

// readGitSetting reads key=value, or a key alone. Only what certainly runs nothing is let through.
func readGitSetting(r *reader, a arg) {
	key, value, with := strings.Cut(a.text, "=")
	if a.kind > single || a.kind == single && !with {
		r.unsure("a setting that is not literal")
		return
	}
	switch key = strings.ToLower(key); key {
	case "core.pager", "core.editor", "sequence.editor", "core.sshcommand":
		if with && a.kind == literal {
			r.script(value)
			return
		}
	case "user.name", "user.email", "user.signingkey", "init.defaultbranch", "commit.gpgsign", "tag.gpgsign", "core.autocrlf", "core.eol", "core.quotepath", "core.filemode", "core.ignorecase",
		"safe.directory", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "rebase.autostash", "rebase.autosquash", "merge.conflictstyle", "fetch.prune", "http.sslverify",
		"http.extraheader", "diff.renames", "log.date", "gc.auto", "rerere.enabled", "core.abbrev", "core.commentchar", "gpg.format":
		return
	}
	if strings.HasPrefix(key, "color.") || strings.HasPrefix(key, "advice.") || strings.HasPrefix(key, "branch.") || strings.HasPrefix(key, "lfs.") && !strings.Contains(key, "custom") {
		return
	}
	r.unsure("a setting that may run a command")
}
