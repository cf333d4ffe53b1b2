package shell

import (
	"slices"
	"strings"
	"sync"
)

// A program is the table entry of a program or a subcommand, and describes its options and
// operands.
type program struct {
	// options holds names separated by spaces. Names separated by | denote the same option. A
	// one-letter name is a short option; a name with a leading dash is a long option with a single
	// dash. After a name, "=" means that the option takes a value, and "~" that it takes only an
	// attached value. The prefix "!" means that the option makes the command do more or less than
	// its name says, and "?" that the option may run something. In "=1,2", values other than 1 and
	// 2 have the same effect as "!". "D>d+f" means that the option D implies the options d and f.
	// "#" stands for the options -1, -20 and so on. "+" and ":" stand for operands that begin with
	// these characters, as in git push origin +main.
	options  string
	operands operands
	free     bool // no argument makes the command do more than its name says
}

// operands describes the operands that a command may have while it still does exactly what its name
// says.
type operands struct {
	min, max int
	not      string // no operand may contain any of these characters
	begin    string // every operand must begin with this string
	notBegin string // no operand may begin with any of these characters
	notEnd   string // no operand may end with this string
	is       set    // if not nil, every operand must be in this set
}

const unbounded = 1 << 30

// Common kinds of operands.
var (
	anyOperands = operands{max: unbounded}
	twoOperands = operands{min: 2, max: unbounded, notBegin: "@"} // two or more operands
	oneOperand  = operands{max: 1}
	refOperands = operands{max: unbounded, notBegin: "+:", not: "\\"}
)

// allowAll reports whether a command with the given operands still does exactly what its name says.
func (o *operands) allowAll(args []arg) bool {
	return o.min <= len(args) && len(args) <= o.max && !slices.ContainsFunc(args, func(a arg) bool { return !o.allows(a) })
}

// allows reports whether a command with the given operand still does exactly what its name says.
func (o *operands) allows(a arg) bool {
	switch {
	case a.kind > spread:
		return o.isAny()
	case o.not != "" && (a.kind != literal || strings.ContainsAny(a.text, o.not)),
		o.notBegin != "" && (a.text == "" && a.kind != literal || a.text != "" && strings.Contains(o.notBegin, a.text[:1])),
		o.notEnd != "" && (strings.HasSuffix(a.text, o.notEnd) || strings.HasSuffix(a.tail, o.notEnd)),
		o.is != nil && (a.kind != literal || !o.is[a.text]):
		return false
	}
	return strings.HasPrefix(a.text, o.begin)
}

// isAny reports whether any operands are allowed.
func (o *operands) isAny() bool {
	return o.max == unbounded && o.min == 0 && o.not+o.begin+o.notBegin+o.notEnd == "" && o.is == nil
}

// A knownOption is an option in one of the tables.
type knownOption struct {
	names    []string
	takes    bool     // the option takes a value, attached or as the next argument
	attached bool     // the option takes only an attached value
	values   []string // values that do not change what the command does; nil if no value changes it
	inert    bool
	mayRun   bool     // the option may run something
	implies  []string // the names of the options that this option implies
}

// An optionTable holds a program's options, keyed by name. The name of a long option with a single
// dash includes the dash.
type optionTable struct {
	byName map[string]*knownOption
	dashed bool // long options begin with a single dash, so one-letter options cannot be combined
	digits bool
	exact  bool // the argument after an option that takes a value is always its value, even if the argument looks like an option
}

// parseOptions parses the options of an entry; see [program].
func parseOptions(text string) *optionTable {
	known := &optionTable{byName: make(map[string]*knownOption)}
	for _, word := range strings.Fields(text) {
		if word == "#" {
			known.digits = true
			continue
		}
		o := &knownOption{inert: word[0] != '!' && word[0] != '?', mayRun: word[0] == '?'}
		word, values, takes := strings.Cut(strings.TrimLeft(word, "!?"), "=")
		if o.takes = takes; values != "" {
			o.values = strings.Split(values, ",")
		}
		word, o.attached = strings.CutSuffix(word, "~")
		word, others, _ := strings.Cut(word, ">")
		if others != "" {
			o.implies = strings.Split(others, "+")
		}
		o.names = strings.Split(word, "|")
		for _, n := range o.names {
			known.byName[n] = o
			known.dashed = known.dashed || n[0] == '-' && len(n) > 1
		}
	}
	return known
}

// A givenOption is an option that a script passes to a command.
type givenOption struct {
	known *knownOption // nil if the option is not in the table
	name  string
	value arg
	set   bool // the option has a value
}

// splitOptions separates a command's options from its operands. Options and operands may come in
// any order. ok is false if it is uncertain which arguments are options. If sure is false, an
// argument with an unknown start counts as an operand, although it might be an option.
func (k *optionTable) splitOptions(args []arg, sure bool) (options []givenOption, operands []arg, ok bool) {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.kind == literal && a.text == "--":
			if k.dashed {
				return options, operands, false // a program whose long options begin with a single dash may accept options after --, as in find -- -delete
			}
			return options, append(operands, args[1:]...), true
		case sure && (a.kind == anything || a.kind != literal && a.text == ""):
			return options, operands, false
		case !strings.HasPrefix(a.text, "-") || a.text == "-" && a.kind == literal:
			operands, args = append(operands, a), args[1:]
			continue
		case a.kind > single:
			return options, operands, false
		}
		found, n := k.parseOption(args)
		if n == 0 {
			return options, operands, false
		}
		options, args = append(options, found...), args[n:]
	}
	return options, operands, true
}

// lazyOptions returns a function that parses the options on its first call and returns a table of
// them. If an option takes a value and none is attached, the next argument counts as the value,
// even if it looks like an option.
func lazyOptions(options string) func() *optionTable {
	return sync.OnceValue(func() *optionTable {
		k := parseOptions(options)
		k.exact = true
		return k
	})
}

// splitLeading separates the options before the operands from the remaining arguments. ok is false
// if it is uncertain where the options end, or if any of these options is unknown. An unknown
// option could take a value or run something.
func (k *optionTable) splitLeading(args []arg) (found []givenOption, rest []arg, ok bool) {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.kind != literal && !strings.HasPrefix(a.text, "-"):
			return found, args, a.kind == single && (a.text != "" || strings.HasPrefix(a.tail, "/"))
		case a.text == "--":
			return found, args[1:], a.kind == literal
		case len(a.text) < 2 || a.text[0] != '-':
			return found, args, true
		}
		options, n := k.parseOption(args)
		if n == 0 || a.kind > single || slices.ContainsFunc(options, givenOption.isUnknown) {
			return found, args, false
		}
		found, args = append(found, options...), args[n:]
	}
	return found, nil, true
}

// isUnknown reports whether the table does not describe the option. If the option has a value, but
// takes none according to the table, it counts as unknown.
func (o givenOption) isUnknown() bool {
	return o.known == nil || o.set && !o.known.takes && !o.known.attached
}

// has reports whether the given options include an option with the given name.
func has(found []givenOption, name string) bool {
	return slices.ContainsFunc(found, func(o givenOption) bool { return o.name == name })
}

// parseOption parses the options in args[0], such as -rf, and the value that may follow them. n is
// the number of arguments that the options and the value occupy, or 0 if this number is uncertain.
func (k *optionTable) parseOption(args []arg) (found []givenOption, n int) {
	a := args[0]
	name, value, with := a.cut()
	if long, ok := strings.CutPrefix(name, "--"); ok || k.dashed && k.byName[name] != nil {
		return k.parseLong(long, value, with, args)
	}
	if k.digits && a.kind == literal && strings.Trim(a.text[1:], "0123456789") == "" {
		return []givenOption{{known: digits, name: a.text}}, 1
	}
	for i := 1; i < len(a.text); i++ {
		letter := a.text[i : i+1]
		o := k.byName[letter]
		rest := a
		rest.text = a.text[i+1:]
		attached := rest.text != "" || rest.tail != "" || rest.kind != literal
		switch {
		case k.exact && attached && rest.text == "" && rest.tail == "":
			return found, 0 // the rest of the argument is unknown; it may be the option's value, or empty
		case o == nil || k.dashed && attached:
			return []givenOption{{name: a.text}}, 1
		case o.takes && attached || o.attached:
			return append(found, givenOption{o, letter, rest, attached}), 1
		case o.takes && k.isValue(args[1:]):
			return append(found, givenOption{o, letter, args[1], true}), 2
		case o.takes:
			return append(found, givenOption{known: o, name: letter}), 0
		}
		found = append(found, givenOption{known: o, name: letter})
	}
	if a.kind != literal {
		return found, 0
	}
	return found, 1
}

// digits is the entry for options such as -20.
var digits = &knownOption{names: []string{"#"}, inert: true}

// parseLong parses a long option.
func (k *optionTable) parseLong(name string, value arg, with bool, args []arg) (found []givenOption, n int) {
	o := k.byName[name]
	if len(name) == 1 {
		o = nil // a single letter after -- does not stand for the short option
	}
	switch {
	case !with && value.kind != literal:
		return nil, 0
	case o == nil:
		return []givenOption{{name: name}}, 1
	case with:
		return []givenOption{{o, name, value, true}}, 1
	case o.takes && k.isValue(args[1:]):
		return []givenOption{{o, name, args[1], true}}, 2
	case o.takes:
		return nil, 0
	}
	return []givenOption{{known: o, name: name}}, 1
}

// isValue reports whether args[0] is the value of the preceding option. If k.exact is set, even an
// argument that looks like an option counts as the value.
func (k *optionTable) isValue(args []arg) bool {
	if len(args) == 0 || args[0].kind > single && !(k.exact && args[0].split) {
		return false
	}
	return k.exact || (args[0].kind == literal || args[0].text != "") && !strings.HasPrefix(args[0].text, "-")
}

// inert reports whether the command still does exactly what its name says if it has the option o.
func (o givenOption) inert() bool {
	switch {
	case o.isUnknown() || !o.known.inert:
		return false
	case o.known.values == nil:
		return true
	}
	return o.value.kind == literal && slices.Contains(o.known.values, o.value.text)
}
