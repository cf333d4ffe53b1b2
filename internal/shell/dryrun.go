package shell

import (
	"slices"
	"strings"
)

// A dryRun describes the arguments that turn a command into a dry run, which only prints what the
// command would do.
type dryRun struct {
	says  string // options that request a dry run; their abbreviations do not count
	flags string // options known to take no value; a dry-run option after any other option might be the value of that option
}

// dryRuns maps programs and subcommands to their dry-run options. A command counts as a dry run
// only if it has one of these options, spelled exactly as in the table.
var dryRuns = eachName(map[string]dryRun{
	"git push":                  {says: "--dry-run -n", flags: "-q --quiet -v --verbose --tags --all --force -f -u --set-upstream --follow-tags --atomic --porcelain --force-with-lease --no-verify --progress --prune"},
	"git clean":                 {says: "--dry-run -n", flags: "-q --quiet -d -x -X -f --force -fd -fdx -fx -df"},
	"git commit":                {says: "--dry-run", flags: "-a --all -q --quiet -v --verbose --short --porcelain --amend --no-verify"},
	"npm publish,npm unpublish": {says: "--dry-run", flags: "-f --force --json --provenance --ignore-scripts"},
	"pnpm publish":              {says: "--dry-run", flags: "-r --recursive --force --json --no-git-checks --ignore-scripts"},
	"cargo publish":             {says: "--dry-run -n", flags: "-v --verbose -q --quiet --allow-dirty --no-verify --locked --offline --all-features --workspace"},
	"kubectl apply,oc apply,kubectl delete,oc delete": {says: "--dry-run=client --dry-run=server"},
	"helm install,helm upgrade":                       {says: "--dry-run --dry-run=client --dry-run=server", flags: "--install -i --atomic --wait --debug"},
	"helm uninstall,helm delete,helm del,helm un":     {says: "--dry-run", flags: "--wait --debug --keep-history --ignore-not-found --no-hooks"},
	"helm rollback":                        {says: "--dry-run", flags: "--wait --debug --force --no-hooks --cleanup-on-fail"},
	"poetry publish":                       {says: "--dry-run", flags: "--build --skip-existing -n --no-interaction -q --quiet -v"},
	"uv publish":                           {says: "--dry-run", flags: "-q --quiet -v --verbose --offline --no-progress"},
	"bun publish":                          {says: "--dry-run", flags: "--silent --verbose --no-progress --ignore-scripts --tolerate-republish"},
	"pulumi destroy,pulumi down,pulumi dn": {says: "--preview-only", flags: "-r --refresh -d --debug --diff -y --yes --remove"},
})

// changesNothing reports whether the command certainly changes nothing. It returns false if an
// argument could cancel the dry run, could be the value of an option, or has an unexpected
// spelling.
func (c *command) changesNothing() bool {
	table := subcommandsOf(c.name)
	if table == nil {
		return false
	}
	sub, args, sure := table.next(c.args)
	if sub == nil || !sure || sub.kind != literal {
		return false
	}
	if c.asksHelp(sub.text, args) {
		return true
	}
	d, ok := dryRuns[c.name+" "+sub.text]
	if !ok || !allLiteral(args) {
		return false
	}
	dry, ended := false, false
	for i, a := range args {
		switch {
		case ended:
		case a.text == "--":
			ended = true
		case hasWord(d.says, a.text):
			if i > 0 && isOption(args[i-1].text) && !hasWord(d.flags, args[i-1].text) && !strings.Contains(args[i-1].text, "=") {
				return false // the argument is the value of the previous option
			}
			dry = true
		case begins(a.text, "--d --no-d --rec --e true false"), begins(a.text, "--preview-only="):
			return false // an argument such as --no-dry-run, --dry-run false or --receive-pack makes the dry run uncertain
		}
	}
	return dry
}

// helpPrograms holds the programs that print help if the last argument of a subcommand is --help.
// helpExceptions holds the subcommands that may instead pass --help to another program.
var (
	helpPrograms   = setOf("git docker podman kubectl oc terraform tofu pulumi gh glab helm")
	helpExceptions = setOf("run exec bisect submodule filter-branch compose debug attach alias extension plugin")
)

// asksHelp reports whether the command only prints help. The program must be in helpPrograms, and
// the subcommand must not be in helpExceptions. The last argument must be --help, and there must be
// no other options. For terraform and tofu, -help is the same as --help.
func (c *command) asksHelp(sub string, args []arg) bool {
	n := len(args) - 1
	return n >= 0 && helpPrograms[c.name] && !helpExceptions[sub] && (args[n].text == "--help" || args[n].text == "-help" && (c.name == "terraform" || c.name == "tofu")) &&
		!slices.ContainsFunc(args[:n], func(a arg) bool { return a.kind != literal || strings.HasPrefix(a.text, "-") }) && args[n].kind == literal
}

// isDryRun reports whether the pattern itself contains an option that usually requests a dry run,
// such as --dry-run or -n.
func (p *Pattern) isDryRun() bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(w, "dry") || w == "-n" })
}
