package shell

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// abbreviators holds the programs that accept abbreviated subcommands.
var abbreviators = setOf("npm hg ip bridge tc")

// aliases maps each subcommand to its built-in aliases. Abbreviations of aliases, which npm also
// accepts, are not listed; see [isAbbreviation].
var aliases = map[string]string{
	"git push":    "send-pack",
	"npm install": "i in ins inst insta instal add isnt isnta isntal", "npm uninstall": "unlink remove rm r un", "npm update": "up upgrade udpate",
	"npm ci": "clean-install ic install-clean isntall-clean", "npm test": "t tst", "npm exec": "x", "npm init": "create innit",
	"npm run": "run-script rum urn", "npm run-script": "run rum urn", "npm view": "info show v", "npm owner": "author",
	"npm config": "c", "npm version": "verison", "npm dist-tag": "dist-tags", "npm rebuild": "rb", "npm link": "ln", "npm adduser": "add-user", //nolint:misspell // npm accepts this spelling
	"pnpm install": "i", "pnpm remove": "rm un uninstall", "pnpm update": "up upgrade", "pnpm run": "run-script",
	"cargo build": "b", "cargo check": "c", "cargo test": "t", "cargo run": "r", "cargo remove": "rm",
	"svn commit": "ci", "svn delete": "del remove rm", "svn propset": "pset ps", "svn move": "mv rename ren", "svn switch": "sw",
	"hg commit": "ci", "hg update": "up checkout co", "helm uninstall": "del delete un", "helm install": "i",
	"brew uninstall": "rm remove", "brew install": "instal", "pulumi up": "update", "pulumi destroy": "down dn",
}

// isAlias reports whether text is a built-in alias of p.operands[n]. Only the first operand can
// have aliases, because it is the subcommand.
func isAlias(p *Pattern, text string, n int) bool {
	return n == 0 && slices.Contains(strings.Fields(aliases[p.name.text+" "+p.operands[0].text]), text)
}

// equivalents maps a program and subcommand to an equivalent subcommand and option, for example
// `terraform destroy` to `apply -destroy`.
var equivalents = map[string][2]string{"terraform destroy": {"apply", "-destroy"}, "tofu destroy": {"apply", "-destroy"}, "terragrunt destroy": {"apply", "-destroy"}}

// isEquivalent reports whether the given subcommand and its arguments have the same effect as the
// subcommand of the pattern p, according to the table equivalents. For example, apply -destroy has
// the same effect as destroy.
func isEquivalent(p *Pattern, sub arg, rest []arg) bool {
	other, ok := equivalents[p.name.text+" "+p.operands[0].text]
	return ok && sub.kind == literal && sub.text == other[0] && slices.ContainsFunc(rest, func(a arg) bool {
		return a.kind == literal && a.text == other[1]
	})
}

// isAbbreviation reports whether the program of the pattern p may accept text as an abbreviation of
// p.operands[next].
func isAbbreviation(p *Pattern, text string, next int) bool {
	name, want := p.name.text, p.operands[next].text
	switch {
	case text == "" || text == want:
		return false
	case name == "git" && next > 0 && p.operands[0].text == "push":
		branch := text[strings.IndexByte(text, ':')+1:]
		return p.operands[next].matches(strings.TrimPrefix(strings.TrimPrefix(branch, "+"), "refs/heads/"))
	case name == "gradle":
		task := text[strings.LastIndexByte(text, ':')+1:]
		return task != "" && strings.HasPrefix(want, task[:1]) && isSubsequence(task, want)
	case !abbreviators[name] || next > 0: // only subcommands can be abbreviated
		return false
	}
	names := append(strings.Fields(aliases[name+" "+want]), want)
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, text) })
}

// isSubsequence reports whether the bytes of sub occur in s in the same order, not necessarily next
// to each other.
func isSubsequence(sub, s string) bool {
	for i := range len(sub) {
		at := strings.IndexByte(s, sub[i])
		if at < 0 {
			return false
		}
		s = s[at+1:]
	}
	return true
}

// otherNames maps each alternative name of a program to the usual name. If the alternative name
// implies a subcommand, the subcommand follows the usual name.
var otherNames = map[string]string{"docker-compose": "docker compose", "podman-compose": "podman compose", "gmake": "make", "bmake": "make"}

// families holds the programs with variants named after a file system type, such as mkfs.ext4.
var families = setOf("mkfs fsck mount umount")

// sameProgram reports whether two names denote the same program on all systems.
func sameProgram(name, want string) bool {
	if first, kind, ok := strings.Cut(name, "."); ok && kind != "" && families[first] {
		return first == want
	}
	return versionedPrograms[want] && strings.HasPrefix(name, want) && trimVersion(name) == want
}

// versionedPrograms holds the programs whose names may contain a version number.
var versionedPrograms = setOf("python pip node ruby php perl clang gcc")

// family returns a key for finding patterns by a program's name. All names that may denote the same
// program on some system, such as rm, RM and rm.exe, have the same key; see [command.argsUnder].
func family(name string) string {
	if first, kind, ok := strings.Cut(name, "."); ok && kind != "" && families[first] {
		name = first
	}
	name, _ = strings.CutSuffix(foldCase(name), ".EXE")
	for short, full := range otherNames {
		if strings.EqualFold(name, short) {
			first, _, _ := strings.Cut(full, " ")
			return strings.ToUpper(first)
		}
	}
	return cmp.Or(trimVersion(name), name)
}

// trimVersion returns name without a trailing version number, for example pip for pip3.12.
func trimVersion(name string) string { return strings.TrimRight(name, "0123456789.-") }

// argsUnder returns the arguments of the command if its program is called by another name. The two
// names may be different spellings, such as rm, RM and rm.exe, or pip and pip3.12. One of them may
// also imply a subcommand. For example, `docker-compose up` means `docker compose up`, so its
// arguments under the name docker are `compose up`. argsUnder returns nil if the two names cannot
// belong to the same program on any system, or if the command lacks the subcommand that the other
// name implies.
func (c *command) argsUnder(name string) []arg {
	args := slices.Concat([]arg{}, c.args)
	if sameFile(c.name, name) || trimVersion(c.name) != "" && trimVersion(c.name) == trimVersion(name) {
		return args
	}
	if first, rest, _ := strings.Cut(otherNames[c.name], " "); first == name {
		return slices.Concat(literals(strings.Fields(rest)), args)
	}
	first, rest, _ := strings.Cut(otherNames[name], " ")
	if c.name != first {
		return nil
	}
	i := slices.IndexFunc(args, func(a arg) bool { return a.kind != literal || rest == "" || a.text == rest })
	switch {
	case rest == "":
		return args
	case i < 0:
		return nil
	}
	return args[i+1:]
}

// foldCase returns the case-folded form of a file name. On a case-insensitive file system, names with
// the same folded form denote the same file.
func foldCase(name string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// sameFile reports whether two names may denote the same file, either on a file system that ignores
// case or on a system that adds .exe to program names.
func sameFile(name, want string) bool {
	if len(name) == len(want)+4 && strings.EqualFold(name[len(want):], ".exe") {
		name = name[:len(want)]
	}
	return strings.EqualFold(name, want)
}
