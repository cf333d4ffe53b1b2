package shell

import (
	"slices"
	"strings"
)

// readGit reads the options of git that run a command, and the subcommand.
func readGit(r *reader, args []arg) {
	found, rest, ok := gitOptions().splitLeading(args)
	for _, o := range found {
		if o.name == "c" {
			readGitSetting(r, o.value)
			key, value, _ := o.value.cut()
			readGitAlias(r, key, value)
		}
	}
	switch {
	case slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "--exec-path=") }):
		r.doubtAll("an option that changes what is run")
	case !ok:
		r.doubtText("an option that changes what is run", args...)
	case len(rest) > 0 && rest[0].kind != literal:
		r.doubtStrict("a subcommand that is not literal")
	case len(rest) > 0:
		readGitCommand(r, rest[0].text, rest[1:])
		runGitAlias(r, rest[0].text, rest[1:])
	}
}

// readGitAlias reads the command in a setting that defines an alias of git. It may run at any later
// time.
func readGitAlias(r *reader, key string, value arg) {
	name, ok := strings.CutPrefix(strings.ToLower(key), "alias.")
	if !ok || value.kind != literal || value.text == "" {
		return
	}
	script, isShell := strings.CutPrefix(value.text, "!")
	if !isShell {
		script = "git " + value.text
	}
	if r.gitAliases == nil {
		r.gitAliases = make(map[string]string)
	}
	r.gitAliases[name] = script
	r.tentativeScript(script)
}

// runGitAlias reads the command of an alias that the script has defined.
func runGitAlias(r *reader, name string, args []arg) {
	script, ok := r.gitAliases[name]
	if !ok {
		return
	}
	defer r.otherShell()()
	delete(r.gitAliases, name) // an alias may have the name of its own command
	defer func() { r.gitAliases[name] = script }()
	var words []arg
	for word := range strings.FieldsSeq(script) {
		words = append(words, arg{text: word})
	}
	if strings.ContainsAny(script, "'\"\\$`;&|<>()*?[~#") {
		r.script(script)
		return
	}
	r.run(append(words, args...), nil)
}

// gitRunning are the subcommands that run a program named by their arguments or settings.
var gitRunning = setOf(`filter-branch submodule--helper difftool mergetool send-email instaweb daemon shell credential upload-pack receive-pack for-each-repo hook
	maintenance remote-ext remote-fd remote-http remote-https send-pack http-push p4 svn cvsserver web--browse help`)

// readGitCommand reads the arguments of a subcommand of git.
func readGitCommand(r *reader, name string, args []arg) {
	switch name {
	case "config":
		readGitConfig(r, args)
		return
	case "bisect":
		if len(args) > 0 && args[0].text == "run" {
			r.run(args[1:], nil)
		} else if len(args) > 0 && strings.HasPrefix(args[0].text, "vi") {
			r.doubtText("a subcommand that runs what it is told", args...) // bisect visualize, or bisect view
		}
		return
	case "submodule":
		readGitForeach(r, args)
		return
	}
	if len(args) > 0 && gitRunning[name] {
		r.doubtText("a subcommand that runs what it is told", args...)
		return
	}
	for _, a := range args {
		unknown := a.kind == anything && name == "rebase"
		if unknown || a.matchWord("--upload-pack --receive-pack --exec --ext-diff --textconv --extcmd ext:: fd::") != "" {
			r.doubtText("an option that may run a command", args...)
		}
	}
	switch name {
	case "grep", "clone", "fetch", "pull", "push", "rebase", "ls-remote", "archive", "init":
		// An option that is missing from the table may be an abbreviation or a cluster of letters
		// with an option that runs a command.
		found, _, ok := knownPrograms()["git "+name].splitOptions(args, false)
		if !ok || slices.ContainsFunc(found, givenOption.mayRun) {
			r.doubtText("an option that may run a command", args...)
		}
	}
}

// mayRun reports whether an option may run a command.
func (o givenOption) mayRun() bool {
	return o.known == nil && !strings.HasPrefix(strings.TrimLeft(o.name, "-"), "no-") || o.known != nil && o.known.mayRun
}

// readGitForeach reads git submodule foreach, which runs a script.
func readGitForeach(r *reader, args []arg) {
	i := slices.IndexFunc(args, func(a arg) bool { return a.matchWord("=foreach") != "" })
	if i < 0 {
		return
	}
	rest := args[i+1:]
	for len(rest) > 0 && rest[0].matchWord("=--recursive =-q =--quiet") != "" {
		rest = rest[1:]
	}
	r.readJoined(rest)
}

// Words of git config: options without an effect of their own, and words that only print or remove
// a setting.
var (
	gitConfigFlags = setOf("--global --system --local --worktree --add --replace-all --get --get-all --get-regexp --unset --unset-all --list -l --bool --show-origin")
	gitConfigReads = setOf("get list unset --get --get-all --get-regexp --list -l --unset")
)

// readGitConfig reads git config, which can define an alias or a hook that runs a command.
func readGitConfig(r *reader, args []arg) {
	plain := !slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal })
	for i, a := range args {
		switch {
		case a.kind == literal && strings.HasPrefix(a.text, "-") && !gitConfigFlags[a.text], a.matchWord("=edit =rename-section") != "":
			r.doubtText("a setting that may run a command", args...)
			return
		case a.kind != literal, !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "."):
			if len(args) > 1 && !(plain && gitConfigReads[args[0].text]) {
				readGitSetting(r, a)
				if i+1 < len(args) {
					readGitAlias(r, a.text, args[i+1])
				}
			}
			return
		}
	}
}

// Settings of git that run nothing, by name and by prefix.
var (
	gitSettings = setOf(`
	user.name user.email user.signingkey init.defaultbranch commit.gpgsign tag.gpgsign core.autocrlf core.eol core.quotepath
	core.filemode core.ignorecase safe.directory pull.rebase pull.ff push.default push.autosetupremote rebase.autostash rebase.autosquash
	merge.conflictstyle fetch.prune http.sslverify http.extraheader diff.renames log.date gc.auto rerere.enabled core.abbrev core.commentchar gpg.format`)
	gitSettingFamilies = "color. advice. branch. lfs."
)

// readGitSetting reads key=value, or a key alone. Any setting that is not known to be harmless adds
// a doubt.
func readGitSetting(r *reader, a arg) {
	key, value, with := strings.Cut(a.text, "=")
	key = strings.ToLower(key)
	switch {
	case a.kind > single, a.kind == single && !with:
		r.doubtStrict("a setting that is not literal")
	case with && a.kind == literal && (key == "core.pager" || key == "core.editor" || key == "sequence.editor" || key == "core.sshcommand"):
		r.tentativeScript(value)
	case gitSettings[key], begins(key, gitSettingFamilies) && !strings.Contains(key, "custom"):
	default:
		r.doubtText("a setting that may run a command", a)
	}
}
