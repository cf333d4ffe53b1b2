package shell

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// Surely reports whether exit status 0 of the script proves that a command matching p has run and
// succeeded. If not, the Doubt explains why and contains advice. If no command of the script can
// match p, the Doubt is zero.
//
// The result is true if the command runs on every successful path through the script, that is, in
// one of these positions:
//
//   - as the last command of the script
//   - in the && list that ends the script
//   - before ; under set -e
//   - as the last command of a pipeline, or anywhere in a pipeline under set -o pipefail
//   - inside ( ), { }, wrappers such as timeout, launchers such as npx, and bash -c
//
// The result is false if, according to the tables of known programs, an argument of the command
// makes the program do nothing, less than usual or something else. A pattern that ends with *
// allows even such arguments. An exact pattern allows an argument only if the command still does
// exactly what its name says.
//
// The result is also false if the script may have replaced the program, for example by defining a
// function. The program must be in a system directory or in a project's bin directory, unless the
// pattern's name is a path.
func (r *Reading) Surely(p Pattern) (bool, Doubt) {
	first, surely := r.evidence(&p)
	if surely || first < 0 {
		return surely, Doubt{}
	}
	c := &r.commands[first]
	own := strings.TrimLeft(strings.TrimRight(r.code(c.from, c.to), ";& "), "! ")
	if c.by >= 0 || c.masking == substituted {
		own = p.source // from and to are the bounds of the enclosing command, so use the text of the pattern instead
	}
	what, advice := r.gap(first, &p)(own)
	return false, Doubt{What: what, Code: own, At: r.character(c.from), Advice: advice}
}

// evidence looks for a command that matches p and has certainly succeeded if the script succeeds.
// It returns the index of the first such command and true. If it finds none, it returns the index
// of the first command that may match p, or -1, and false.
func (r *Reading) evidence(p *Pattern) (first int, surely bool) {
	first = -1
	for i := range r.commands {
		if r.commands[i].matches(p) == NoMatch {
			continue
		}
		if r.gap(i, p) == nil {
			return i, true
		}
		if first < 0 {
			first = i
		}
	}
	return first, false
}

// A gap is a function that explains why a script's success does not prove that a command succeeded.
// Its parameter is the text of the command, for use in the advice. Its results are an explanation
// and advice.
type gap func(own string) (what, advice string)

// gapOutside returns a [gap] with the given explanation and the advice to run the command in a
// separate call.
func gapOutside(what string) gap {
	return func(own string) (string, string) { return what, alone(own) }
}

func alone(own string) string { return "run `" + own + "` in a separate call" }

// gap returns nil if the script's success proves that command i matches p and has succeeded.
// Otherwise, it returns a function that explains why not and gives advice. The caller must have
// checked that command i may match p.
func (r *Reading) gap(i int, p *Pattern) gap {
	c := &r.commands[i]
	switch {
	case c.matches(p) != Match, c.mayBeSplit():
		return func(string) (string, string) {
			return "it is not certain that this is " + p.source, "write `" + p.source + "` plainly"
		}
	case c.masking != certain:
		return func(own string) (string, string) { return r.lost(c, p, alone(own)) }
	case c.outside && !strings.Contains(p.name.text, "/"):
		return gapOutside("the program belongs neither to the system nor to the project")
	}
	if d := r.spoiled(i); d != nil {
		return func(own string) (string, string) {
			return d.what + " can change what runs", alone(own) + ", without that"
		}
	}
	for handler := range handlers {
		if r.defined[handler] {
			return gapOutside("the script defines a function " + handler)
		}
	}
	for k := i; k >= 0; k = r.commands[k].by {
		if name := r.commands[k].name; r.defined[name] || r.defined[r.commands[k].path] {
			return gapOutside("the script defines a function " + name)
		}
	}
	if p.any {
		return nil
	}
	if option, less := c.deviation(p); less {
		return func(string) (string, string) {
			return "with " + option + " it does something else, or less", "run `" + p.source + "` without it"
		}
	}
	return nil
}

// spoiled looks for a part of the script that may have replaced the program of command i. It
// returns the [doubt] about the first such part, or nil if it finds none.
func (r *Reading) spoiled(i int) *doubt {
	return list.Find(r.doubts, func(d doubt) bool { return d.spoils && d.before <= i })
}

// hides holds, for each [masking], the reason why the script may succeed although the command
// failed or did not run.
var hides = [...]string{
	followed:    "another command decides whether the script succeeds",
	piped:       "the pipe hides whether it failed",
	alternative: "|| hides whether it ran and succeeded",
	background:  "& runs it in the background",
	negated:     "! inverts its result",
	conditional: "it is in a condition, a loop, a function or a trap",
	substituted: "it is in a substitution",
	started:     "the program that runs it may succeed without it",
	unrun:       "with -n a shell runs nothing",
	ended:       "the script may end before it",
}

// lost explains why the construct around the command c hides whether c succeeded, and advises how
// to avoid this. alone is the default advice, which recommends a separate call.
func (r *Reading) lost(c *command, p *Pattern, alone string) (what, advice string) {
	switch what = hides[c.masking]; c.masking {
	case followed:
		return what, alone + ", or with && for ;"
	case piped:
		script := "set -o pipefail; " + strings.TrimSpace(r.text)
		if _, helps := (Options{Strict: r.strict}).Read(script).evidence(p); !helps {
			return what, alone
		}
		if len(script) > longestAdvice {
			return what, "write set -o pipefail; in front"
		}
		return what, "write `" + script + "`"
	}
	return what, alone
}

// longestAdvice is the maximum length of a script quoted in advice.
const longestAdvice = 200

// printOnlyOptions lists the options that make most programs print something and do nothing else.
var printOnlyOptions = setOf("--help --version --dry-run --dryrun --dry --just-print --list-tests --listTests --collect-only --no-run --if-present --showConfig --show-config --print-config")

// deviation returns an argument that, according to the tables, makes the command do less than its
// name says or something different.
func (c *command) deviation(p *Pattern) (argument string, less bool) {
	known, options, lead, ok := programOf(c.name, c.args)
	rule, _, tests := entryOf(evidenceOperands, c.name, c.args)
	has := tests
	if !has && ok {
		rule, has = known.operands, true
	}
	if a, shows := c.shows(p); shows {
		return a, true
	}
	args := c.args[min(lead, len(c.args)):]
	if !ok {
		options = noOptions
	}
	var operands []arg
	for len(args) > 0 {
		a := args[0]
		switch {
		case forwardsAll[c.name] && len(operands)+lead >= len(p.operands) && len(p.operands) > 0 && a.kind == literal && a.text != "--":
			return passed(c.name, args)
		case a.kind == literal && a.text == "--":
			if forwardsAfterDash[c.name] {
				return passed(c.name, args[1:])
			}
			operands, args = append(operands, args[1:]...), nil
			continue
		case a.kind == anything, a.kind != literal && a.text == "" && !a.name:
			return "an argument that is not literal", true
		case !strings.HasPrefix(a.text, "-") || len(a.text) < 2:
			operands, args = append(operands, a), args[1:]
			continue
		}
		n, less := c.optionDeviates(p, options, tests, args)
		if less {
			return a.text, true
		}
		args = args[n:]
	}
	if i := slices.IndexFunc(c.args, func(a arg) bool { return isDevice(a.text) }); i >= 0 {
		return c.args[i].text, true
	}
	if !has {
		return "", false
	}
	operands = p.others(operands, lead)
	for _, a := range operands {
		if !rule.allows(a) {
			return a.text, true
		}
	}
	if len(operands) < rule.min || len(operands) > rule.max {
		return "these operands", true
	}
	return "", false
}

// optionDeviates reports whether the first option in args makes the command do less than its name
// says or something different. It also returns the number of arguments that the option occupies.
func (c *command) optionDeviates(p *Pattern, options *optionTable, tests bool, args []arg) (n int, less bool) {
	text := args[0].text
	found, n := options.parseOption(args)
	if sameTestOptions[c.name][name(text)] {
		return max(n, 1), false
	}
	if n == 0 || len(found) == 0 {
		n, less = 1, printOnlyOptions[name(text)] || options.shortens(name(text))
	}
	for _, o := range found {
		less = less || (!p.names(o) || printOnlyOptions[name(text)]) && (changes(options, o, text) || tests && o.known == nil && partialOptions[name(text)])
	}
	return n, less
}

// shows looks for an option that makes a test program use another shell or configuration, or print
// something instead of running tests. It ignores arguments after --, and options that are part of
// the pattern. ok is false if the command has no such option.
func (c *command) shows(p *Pattern) (option string, ok bool) {
	words := otherEffectOptions[c.name]
	for _, a := range c.args {
		if words == "" || a.text == "--" {
			break
		}
		if a.matchWord(words) != "" && !slices.Contains(p.words, a.text) {
			return a.text, true
		}
	}
	return "", false
}

// noOptions is an empty table of options, for programs that are in no table.
var noOptions = parseOptions("")

// changes reports whether the option makes the command do less than usual or something different.
func changes(k *optionTable, o givenOption, text string) bool {
	name := name(text)
	switch {
	case begins(text, "-DskipTests -Dmaven.test.skip -DskipITs -Dtest= -Dit.test= -Dgroups="):
		return true
	case printOnlyOptions[name] && (o.known == nil || !o.known.inert):
		return true
	case o.isUnknown():
		return o.known != nil || k.shortens(name)
	}
	return !o.inert()
}

// shortens reports whether the given option may be an abbreviation or another spelling of a long
// option that changes what the command does. Options that begin with -test. always count, because
// go test accepts this prefix in its flags.
func (k *optionTable) shortens(name string) bool {
	long, ok := strings.CutPrefix(name, "--")
	if !ok || len(long) < 2 {
		return strings.HasPrefix(name, "-test.")
	}
	for n, o := range k.byName {
		if !o.inert && len(n) > 1 && (strings.HasPrefix(n, long) || strings.TrimLeft(n, "-") == long) {
			return true
		}
	}
	return false
}

// others returns the operands of a command that match no operand of the pattern. The name of a
// program in the tables may consist of several words, such as git stash list. The caller must
// remove the words after the first from the operands, and pass their number as lead. others then
// skips the same number of operands in the pattern.
func (p *Pattern) others(operands []arg, lead int) (rest []arg) {
	next := min(lead, len(p.operands))
	for _, a := range operands {
		if next < len(p.operands) && p.matchesOperand(next, a) == Match {
			next++
			continue
		}
		rest = append(rest, a)
	}
	return rest
}
