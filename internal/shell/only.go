package shell

import (
	"slices"
	"strings"
)

// Only reports whether the script does nothing but what the patterns describe. If not, the Doubt
// gives the reason. At least one command must match a pattern with certainty. Each of the other
// commands must match a pattern, do nothing that a policy might restrict, or only run another
// command, as timeout does. The script must not write a file other than /dev/null, set a variable
// that programs act on, define a function, or contain anything that was not fully understood.
//
// A command may have more arguments than the pattern as long as they leave the command's meaning
// unchanged, according to the tables of known programs. For example, `git log --output=f` does not
// match `git log`, because it writes a file, and `make -n test` does not match `make test`, because
// it builds nothing. If a program is in no table, only the words of the pattern are allowed. The
// pattern's operands must be the command's first operands, because `git push status` is not `git
// status`. A pattern that ends with * allows any literal arguments after its operands, and options
// anywhere.
func (r *Reading) Only(ps ...Pattern) (bool, Doubt) {
	o := onlyCheck{r, ps, make([]bool, len(r.commands))}
	if len(o.commands) == 0 {
		return false, Doubt{What: "it runs no command"}
	}
	if o.sideEffects {
		return false, Doubt{What: "it writes to a file, sets a variable or defines a function"}
	}
	labelled := false
	for i := range o.commands {
		c := &o.commands[i]
		if c.by >= 0 && o.covered[c.by] {
			o.covered[i] = true
			continue
		}
		carried, any := o.matchesPattern(c)
		o.covered[i] = any
		labelled = labelled || carried
		if !carried && !c.isInert() && !o.passes(i) {
			return false, Doubt{What: "another command", Code: o.code(c.from, c.to), At: o.character(c.from), Advice: "run it in a separate call"}
		}
	}
	if !labelled {
		return false, Doubt{What: "it runs no such command"}
	}
	for i := range o.doubts {
		if d := &o.doubts[i]; !o.isCovered(d) {
			return false, o.exported(d)
		}
	}
	return true, Doubt{}
}

// An onlyCheck holds the script and the patterns for a call of [Reading.Only].
type onlyCheck struct {
	*Reading
	patterns []Pattern
	covered  []bool // for each command, whether [Reading.Only] accepts it because of a pattern that ends with *; the pattern may match the command itself or a command that runs it
}

// isCovered reports whether [Reading.Only] can ignore d, a part of the script that was not
// understood. For example, d may be an argument of a command that matches a pattern ending with *.
func (o *onlyCheck) isCovered(d *doubt) bool {
	if d.reach == mild && (d.owner < 0 || !o.commands[d.owner].unlisted) {
		return true
	}
	return d.owner >= 0 && (o.covered[d.owner] || d.reach == mild) && d.reach != all
}

// matchesPattern reports whether the command certainly matches one of the patterns and does nothing
// else. The second result is true if this pattern ends with * and all arguments of the command are
// literal.
func (o *onlyCheck) matchesPattern(c *command) (carried, any bool) {
	if c.outside || c.possible || c.mayBeSplit() {
		return false, false
	}
	for i := range o.patterns {
		p := &o.patterns[i]
		if c.matches(p) != Match {
			continue
		}
		if p.any && c.allLiteral() && c.begins(p) {
			return true, true
		}
		carried = carried || c.matchesOnly(p)
	}
	return carried, false
}

// allLiteral reports whether all arguments are literal. An unknown argument that can only be a name
// or a number also counts, because it cannot be an option.
func (c *command) allLiteral() bool {
	return !slices.ContainsFunc(c.args, func(a arg) bool { return a.kind != literal && !a.name })
}

// begins reports whether the operands of the command certainly begin with the operands of the
// pattern. It returns false if one of these operands follows an option that is neither in the
// tables nor in the pattern, because the operand might be the value of the option.
func (c *command) begins(p *Pattern) bool {
	args, plain := c.plainArgs()
	if !plain {
		return false
	}
	args = subcommandFirst(c.name, args)
	_, options, lead, known := programOf(c.name, args)
	operands, rest := args[:lead:lead], args[lead:]
	for len(operands) < len(p.operands) && len(rest) > 0 {
		a, n := rest[0], 1
		switch {
		case a.text == "--":
			return p.leads(append(operands, rest[1:]...))
		case !strings.HasPrefix(a.text, "-"):
			operands = append(operands, a)
		default:
			var given []givenOption
			if known {
				given, n = options.parseOption(rest)
			}
			if len(given) == 0 || slices.ContainsFunc(given, givenOption.isUnknown) {
				if n = 1; !slices.Contains(p.words, a.text) {
					return false
				}
			}
		}
		rest = rest[n:]
	}
	return p.leads(operands)
}

// subcommandFirst returns the arguments of a program without the options before its subcommand, and
// without those between the two words of a subcommand such as "docker compose exec".
func subcommandFirst(name string, args []arg) []arg {
	table := subcommandsOf(name)
	if table == nil {
		return args
	}
	sub, rest, _ := table.next(args)
	if sub == nil {
		return args
	}
	if group := groups[name+" "+sub.text]; group != nil {
		if second, after, sure := group().next(rest); second != nil && sure {
			return append([]arg{*sub, *second}, after...)
		}
	}
	return append([]arg{*sub}, rest...)
}

// passes reports whether the command with index i does nothing but run another command of the
// script, as timeout does.
func (o *onlyCheck) passes(i int) bool {
	c := &o.commands[i]
	if c.outside || c.possible {
		return false
	}
	runs := slices.ContainsFunc(o.commands[i+1:], func(d command) bool { return d.by == i })
	if !runs {
		return false
	}
	if w, ok := wrappers[c.name]; ok {
		return w.transparent && !privilegeWrappers[c.name]
	}
	_, program, sure, ok := findLaunch(c.name, c.args)
	return ok && sure && len(program) > 0 || transparent[c.name]
}

// privilegeWrappers holds the wrappers that give a command more privileges or another root
// directory, and busybox, which runs its own version of a program.
var privilegeWrappers = setOf("sudo doas chroot busybox")

// Commands without an effect of their own. Those in inertFilters have no effect only as filters in
// a pipeline.
var (
	inertCommands = setOf("cd pwd echo true false : test [ sleep printf export set pushd popd exit wait")
	inertFilters  = setOf("head tail grep egrep fgrep wc sort uniq cut tr jq cat tac column nl rev fold fmt")
)

// isInert reports whether the command has no effect that a policy might restrict.
func (c *command) isInert() bool {
	switch {
	case c.path != "" || c.possible:
		return false
	case c.name == "printf":
		return len(c.args) > 0 && c.args[0].kind == literal && !strings.HasPrefix(c.args[0].text, "-")
	case c.name == "export":
		return c.exportsInert()
	case inertCommands[c.name]:
		return true
	}
	return c.filter && inertFilters[c.name] && c.inert(&Pattern{name: word{text: c.name}}) && !c.namesFiles()
}

// namesFiles reports whether a filter has operands that may be files. The filter would read those
// files instead of its standard input.
func (c *command) namesFiles() bool {
	if c.name == "tr" {
		return false
	}
	_, options, _, ok := programOf(c.name, c.args)
	if !ok {
		return len(c.args) > 0
	}
	given, operands, ok := options.splitOptions(c.args, true)
	skip := fileTable[c.name].skip
	for _, o := range given {
		if o.name == "e" || o.name == "regexp" {
			skip = 0
		}
		if o.name == "f" && skip > 0 || o.name == "file" {
			return true // the option names a file that contains patterns
		}
	}
	return !ok || len(operands) > skip
}

// exportsInert reports whether all exported variables are inert, that is, do not make a program run
// anything.
func (c *command) exportsInert() bool {
	return !slices.ContainsFunc(c.args, func(a arg) bool {
		name, value, with := a.cut()
		return with && !isInertVariable(name, value) || steers(name) && !isInertSetting(name, value)
	})
}

// matchesOnly reports whether the command certainly matches the pattern p and does nothing else.
func (c *command) matchesOnly(p *Pattern) bool {
	if c.matches(p) != Match {
		return false
	}
	if known := programs[c.name]; known.free {
		return p.leads(c.args)
	}
	return c.inert(p)
}
