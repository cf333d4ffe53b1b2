package shell

import (
	"slices"
	"strings"
)

// abbreviating are the programs that take the beginning of a subcommand for all of it.
var abbreviating = setOf("npm hg ip bridge tc")

// aliases are other names of subcommands, as their programs have them from the start. Of npm they can be
// cut short as well.
var aliases = map[string]string{
	"npm install": "add isnt isnta isntal", "npm uninstall": "unlink remove rm r un", "npm update": "up upgrade udpate",
	"npm ci": "clean-install ic install-clean isntall-clean", "npm test": "tst", "npm exec": "x", "npm init": "create innit",
	"npm run": "run-script rum urn", "npm run-script": "run rum urn", "npm view": "info show v", "npm owner": "author",
	"npm config": "c", "npm version": "verison", "npm dist-tag": "dist-tags", "npm rebuild": "rb", "npm link": "ln", "npm adduser": "add-user",
	"pnpm install": "i", "pnpm remove": "rm un uninstall", "pnpm update": "up upgrade", "pnpm run": "run-script",
	"cargo build": "b", "cargo check": "c", "cargo test": "t", "cargo run": "r", "cargo remove": "rm",
	"svn commit": "ci", "svn delete": "del remove rm", "svn propset": "pset ps", "svn move": "mv rename ren", "svn switch": "sw",
	"hg commit": "ci", "hg update": "up checkout co", "helm uninstall": "del delete un", "helm install": "i",
	"brew uninstall": "rm remove", "brew install": "instal",
}

// isShort reports whether a program may take text for the operand of a pattern that comes next.
func isShort(p Pattern, text string, next int) bool {
	want := p.operands[next]
	if text == "" || text == want {
		return false
	}
	all := strings.Fields(aliases[p.name+" "+want])
	if !abbreviating[p.name] || p.name == "npm" && next > 0 { // of npm, what comes behind the subcommand is a name
		return slices.Contains(all, text)
	}
	return slices.ContainsFunc(append(all, want), func(name string) bool { return strings.HasPrefix(name, text) })
}
