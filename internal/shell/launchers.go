package shell

import (
	"slices"
	"strings"
)

// A launch describes a launcher such as "uv run". A launcher usually runs a program that the
// project contains or that the launcher downloads.
type launch struct {
	options func() *optionTable
	loose   bool // whether a word after the launcher may be something other than a program's name, as in yarn add or python -m pdb
}

// launches is the table of launchers. A launched program is read as if it were run directly.
var launches = eachName(map[string]launch{
	"npx,npm exec,npm x":                    {options: lazyOptions("y|yes no|no-install q|quiet p|package= prefix= w|workspace= ws|workspaces include-workspace-root !c|call= ignore-existing s|silent prefer-offline offline")},
	"bunx,bun x":                            {options: lazyOptions("bun silent verbose p|package=")},
	"pnpx,pnpm dlx":                         {options: lazyOptions("package= s|silent !c|shell-mode allow-build=")},
	"pnpm exec":                             {options: lazyOptions("r|recursive parallel no-bail resume-from= report-summary !c|shell-mode F|filter= C|dir= s|silent")},
	"yarn dlx":                              {options: lazyOptions("p|package= q|quiet")},
	"yarn exec":                             {options: lazyOptions("")},
	"yarn,pnpm":                             {options: lazyOptions("s|silent cwd= C|dir= F|filter= r|recursive w|workspace-root"), loose: true},
	"uvx,uv tool run":                       {options: lazyOptions("from= with= p|python= q|quiet isolated refresh offline with-requirements= index-url= no-cache")},
	"uv run":                                {options: lazyOptions("frozen locked no-sync p|python= with= q|quiet v|verbose extra= all-extras group= dev no-dev no-group= only-group= all-groups project= directory= isolated active no-project env-file= package= all-packages with-requirements= with-editable= offline no-cache exact only-dev default-index= !m|module= !s|script")},
	"poetry run,pipenv run,rye run,pdm run": {options: lazyOptions("")},
	"pipx run":                              {options: lazyOptions("spec= pip-args= python= no-cache q v")},
	"hatch run":                             {options: lazyOptions("e|env= q v")},
	"pixi run":                              {options: lazyOptions("e|environment= manifest-path= frozen locked")},
	"bundle exec":                           {options: lazyOptions("keep-file-descriptors gemfile=")},
	"mise exec,mise x,rtx exec,rtx x":       {options: lazyOptions("C|cd= j|jobs= !c|command=")},
	"rbenv exec,pyenv exec,asdf exec":       {options: lazyOptions("")},
	"dotenvx run,dotenv run":                {options: lazyOptions("f|env-file= e|env= overload quiet q verbose debug convention=")},
	"op run":                                {options: lazyOptions("env-file= no-masking account=")},
	"doppler run":                           {options: lazyOptions("p|project= c|config= !command= t|token= preserve-env mount=")},
	"python -m,python3 -m,py -m":            {options: lazyOptions(""), loose: true},
	"conda run,mamba run,micromamba run":    {options: lazyOptions("n|name= p|prefix= no-capture-output live-stream cwd= v")},
})

// ownWords lists the subcommands of yarn and pnpm. After these launchers, any other word names a
// program or a script of the project.
var ownWords = setOf(`
	add audit autoclean bin cache check config constraints create dedupe deploy dlx env exec explain fetch generate-lock-entry global
	help i import info init install install-test it licenses link list ll la ln login logout ls node npm outdated owner pack patch patch-commit
	plugin policies prune publish rb rebuild remove rm root run run-script runtime search self-update server set setup start stage store t tag team test
	tst un uninstall unlink unplug unlink up update upgrade upgrade-interactive version versions view why workspace workspaces`)

// findLaunch returns the table entry of a launcher, and the words of the program that the launcher
// runs. sure is false if an argument of the launcher makes it uncertain which program runs. ok is
// false if the command is not a launcher.
func findLaunch(name string, args []arg) (l launch, program []arg, sure, ok bool) {
	name = tableName(name)
	l, lead, ok := entryOf(launches, name, args)
	if !ok {
		return launch{}, nil, false, false
	}
	found, rest, sure := l.options().splitLeading(args[lead:])
	if slices.ContainsFunc(found, func(o givenOption) bool { return !o.known.inert }) {
		return l, nil, false, true
	}
	if len(rest) > 0 && rest[0].kind == literal && rest[0].text == "--" {
		rest = rest[1:]
	}
	if strings.HasPrefix(name, "mise") || strings.HasPrefix(name, "rtx") { // the program follows --, as in mise exec node@20 -- npm test
		if i := slices.IndexFunc(rest, func(a arg) bool { return a.kind == literal && a.text == "--" }); i >= 0 {
			rest = rest[i+1:]
		}
	}
	return l, rest, sure, true
}

// tableName returns the name that the tables use for a program. It removes the version from names
// such as python3.12, and returns all other names unchanged.
func tableName(name string) string {
	if family := strings.TrimRight(name, "0123456789.-"); family == "python" {
		return family
	}
	return name
}

// stripLaunchers removes the launchers, such as npx, from the start of a pattern's words.
func stripLaunchers(words []string) []string {
	for len(words) > 1 {
		l, program, sure, ok := findLaunch(words[0], literals(words[1:]))
		if !ok || !sure || l.loose && tableName(words[0]) != "python" && words[0] != "py" || len(program) == 0 {
			return words
		}
		words = words[len(words)-len(program):]
	}
	return words
}

// launchedProgram returns the words of the program run by a launcher such as npx. It returns nil if
// the command is not a launcher or its program is uncertain.
func launchedProgram(name string, args []arg) []arg {
	l, program, sure, ok := findLaunch(name, args)
	if !ok || !sure || len(program) == 0 || program[0].kind != literal {
		return nil
	}
	word := program[0].text
	if i := strings.LastIndexByte(word, '@'); i > 0 && name != "python" { // drop the version, as in npx jest@29
		word = word[:i]
		program = append([]arg{{text: word}}, program[1:]...)
	}
	if strings.HasPrefix(word, "-") || strings.ContainsAny(word, " @") || word == "" {
		return nil
	}
	if python := tableName(name) == "python" || name == "py"; l.loose && (!python && ownWords[word] || python && runningModules[word]) {
		return nil
	}
	return program
}
