package shell

import (
	"slices"
	"strings"
)

// readGit interprets a git command. It reads the options before the subcommand, because some of
// them, such as -c, may make git run another command. It then reads the subcommand.
func readGit(args []arg) (p plan) {
	found, rest, ok := gitOptions().splitLeading(args)
	for _, o := range found {
		if o.name == "c" {
			p = append(p, readGitSetting(o.value)...)
			key, value, _ := o.value.cut()
			p.add(definesAlias, key, value)
		}
	}
	switch {
	case slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "--exec-path=") }):
		p.addDoubt(all, "an option that changes what runs")
	case !ok:
		p.addDoubt(inText, "an option that changes what runs", args...)
	case len(rest) > 0 && rest[0].kind != literal:
		p.addDoubt(strict, "a subcommand that is not literal")
	case len(rest) > 0:
		p = append(p, readGitCommand(rest[0].text, rest[1:])...)
		p.add(runsAlias, rest[0].text, rest[1:]...)
	}
	return p
}

// gitRunners lists the subcommands that run a program named by their arguments or settings.
var gitRunners = setOf(`filter-branch submodule--helper difftool mergetool send-email instaweb daemon shell credential upload-pack receive-pack for-each-repo hook
	maintenance remote-ext remote-fd remote-http remote-https send-pack http-push p4 svn cvsserver web--browse help`)

// readGitCommand reads the arguments of the git subcommand with the given name.
func readGitCommand(name string, args []arg) (p plan) {
	switch name {
	case "config":
		return readGitConfig(args)
	case "bisect":
		if len(args) > 0 && args[0].text == "run" {
			p.add(runsCommand, "", args[1:]...)
		} else if len(args) > 0 && strings.HasPrefix(args[0].text, "vi") {
			p.addDoubt(inText, "a subcommand that runs other commands", args...) // bisect visualize or its alias bisect view
		}
		return p
	case "submodule":
		return readGitForeach(args)
	}
	if len(args) > 0 && gitRunners[name] {
		return doubtPlan(inText, "a subcommand that runs other commands", args...)
	}
	for _, a := range args {
		unknown := a.kind == anything && name == "rebase"
		if unknown || a.matchWord("--upload-pack --receive-pack --exec --ext-diff --textconv --extcmd ext:: fd::") != "" {
			p.addDoubt(inText, "an option that may run a command", args...)
		}
	}
	switch name {
	case "grep", "clone", "fetch", "pull", "push", "rebase", "ls-remote", "archive", "init":
		// An option that is not in the table might run a command. For example, it may be an
		// abbreviation of an option that does.
		found, _, ok := knownPrograms()["git "+name].splitOptions(args, false)
		if !ok || slices.ContainsFunc(found, givenOption.mayRun) {
			p.addDoubt(inText, "an option that may run a command", args...)
		}
	}
	return p
}

// mayRun reports whether an option may run a command.
func (o givenOption) mayRun() bool {
	return o.known == nil && !strings.HasPrefix(strings.TrimLeft(o.name, "-"), "no-") || o.known != nil && o.known.mayRun
}

// readGitForeach interprets git submodule foreach, which runs a script.
func readGitForeach(args []arg) plan {
	i := slices.IndexFunc(args, func(a arg) bool { return a.matchWord("=foreach") != "" })
	if i < 0 {
		return nil
	}
	rest := args[i+1:]
	for len(rest) > 0 && rest[0].matchWord("=--recursive =-q =--quiet") != "" {
		rest = rest[1:]
	}
	return plan{{do: runsScript, args: rest}}
}

// gitConfigFlags lists the options of git config that do not make it run a command. gitConfigReads
// lists options and subcommands that make git config only print or remove a setting.
var (
	gitConfigFlags = setOf("--global --system --local --worktree --add --replace-all --get --get-all --get-regexp --unset --unset-all --list -l --bool --show-origin")
	gitConfigReads = setOf("get list unset --get --get-all --get-regexp --list -l --unset")
)

// readGitConfig interprets git config, which can define an alias or a hook that runs a command.
func readGitConfig(args []arg) (p plan) {
	plain := allLiteral(args)
	for i, a := range args {
		switch {
		case a.kind == literal && strings.HasPrefix(a.text, "-") && !gitConfigFlags[a.text], a.matchWord("=edit =rename-section") != "":
			p.addDoubt(inText, "a setting that may run a command", args...)
			return p
		case a.kind != literal, !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "."):
			if len(args) > 1 && !(plain && gitConfigReads[args[0].text]) {
				p = append(p, readGitSetting(a)...)
				if i+1 < len(args) {
					p.add(definesAlias, a.text, args[i+1])
				}
			}
			return p
		}
	}
	return p
}

// Git settings that do not run anything, listed by name and by prefix.
var (
	gitSettings = setOf(`
	user.name user.email user.signingkey init.defaultbranch commit.gpgsign tag.gpgsign core.autocrlf core.eol core.quotepath
	core.filemode core.ignorecase safe.directory pull.rebase pull.ff push.default push.autosetupremote rebase.autostash rebase.autosquash
	merge.conflictstyle fetch.prune http.sslverify http.extraheader diff.renames log.date gc.auto rerere.enabled core.abbrev core.commentchar gpg.format`)
	gitSettingFamilies = "color. advice. branch. lfs."
)

// readGitSetting returns a plan for a git setting, given as key=value or as a key alone. If the
// setting is known to be harmless, the plan is empty. Otherwise, it contains the command that the
// setting may run, or records that the setting may run some command.
func readGitSetting(a arg) (p plan) {
	key, value, with := strings.Cut(a.text, "=")
	key = strings.ToLower(key)
	switch {
	case a.kind > single, a.kind == single && !with:
		p.addDoubt(strict, "a setting that is not literal")
	case with && a.kind == literal && (key == "core.pager" || key == "core.editor" || key == "sequence.editor" || key == "core.sshcommand"):
		p.add(mayRunScript, "", arg{text: value})
	case gitSettings[key], begins(key, gitSettingFamilies) && !strings.Contains(key, "custom"):
	default:
		p.addDoubt(inText, "a setting that may run a command", a)
	}
	return p
}
