package shell

import (
	"slices"
	"strings"
	"sync"
)

// A program is what is known of the options and operands of a program, or of
// one of its subcommands.
type program struct {
	// options are names divided by spaces. Names divided by | are one option; a name
	// of one letter is short, one with a dash before it is long with one dash. Behind
	// a name, "=" takes a value, "=1,2" is inert with these values alone, and "~" takes
	// a value only where it is attached. "!" before it: with the option, the command
	// does more or less than its name says; "?": the option may run something. "D>d+f"
	// stands for others. "#" is -1, -20 ... The names "+" and ":" are operands that
	// begin so, as in git push origin +main.
	options  string
	operands operands
	free     bool // whatever its arguments are, the command does no more than its name says
}

// operands says which operands leave a command what its name says.
type operands struct {
	min, max int
	not      string // no operand holds one of these characters
	begin    string // every operand begins with this
	notBegin string // no operand begins with one of these characters
	notEnd   string // no operand ends with this
	is       set    // every operand is one of these; nil: any
}

const unbounded = 1 << 30

// Usual operands.
var (
	anyOperands = operands{max: unbounded}
	twoOperands = operands{min: 2, max: unbounded, notBegin: "@"} // or more
	oneOperand  = operands{max: 1}
	refOperands = operands{max: unbounded, notBegin: "+:", not: "\\"}
)

// allow reports whether the operands leave a command what its name says.
func (o *operands) allow(args []arg) bool {
	return o.min <= len(args) && len(args) <= o.max && !slices.ContainsFunc(args, func(a arg) bool { return !o.allows(a) })
}

// allows reports whether an operand leaves a command what its name says.
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

// isAny reports whether any operands do.
func (o *operands) isAny() bool {
	return o.max == unbounded && o.min == 0 && o.not+o.begin+o.notBegin+o.notEnd == "" && o.is == nil
}

// A known option is one that the table has.
type knownOption struct {
	names    []string
	takes    bool     // a value, attached or as the next argument
	attached bool     // a value, but only if it is attached
	values   []string // with which alone it is inert; nil: any
	inert    bool
	tells    bool     // it may run something
	implies  []string // the names for which it stands
}

// knownOptions are the options of one program by their names, each with its
// dash if that is one and the name is long.
type knownOptions struct {
	byName map[string]*knownOption
	dashed bool // long names have one dash, so that letters stand alone
	digits bool
	exact  bool // a value may look like an option
}

// knownPrograms are the tables, read once.
var knownPrograms = sync.OnceValue(func() map[string]*knownOptions {
	all := make(map[string]*knownOptions, len(programs))
	for name, p := range programs {
		all[name] = parseOptions(p.options)
	}
	return all
})

// parseOptions reads the options of an entry.
func parseOptions(text string) *knownOptions {
	known := &knownOptions{byName: make(map[string]*knownOption)}
	for _, word := range strings.Fields(text) {
		if word == "#" {
			known.digits = true
			continue
		}
		o := &knownOption{inert: word[0] != '!' && word[0] != '?', tells: word[0] == '?'}
		word = strings.TrimLeft(word, "!?")
		if before, values, ok := strings.Cut(word, "="); ok {
			word, o.takes = before, true
			if values != "" {
				o.values = strings.Split(values, ",")
			}
		}
		if before, ok := strings.CutSuffix(word, "~"); ok {
			word, o.attached = before, true
		}
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

// programOf is the entry of a command, and how many of its first arguments
// belong to the name of the entry, as "stash list" in git stash list.
func programOf(name string, args []arg) (p program, known *knownOptions, lead int, ok bool) {
	for lead < min(2, len(args)) && args[lead].kind == literal {
		lead++
	}
	for ; lead >= 0; lead-- {
		key := name
		for _, a := range args[:lead] {
			key += " " + a.text
		}
		if p, ok = programs[key]; ok {
			return p, knownPrograms()[key], lead, true
		}
	}
	return program{}, nil, 0, false
}

// A given option is one of a command.
type givenOption struct {
	known *knownOption // nil: not in the table
	name  string
	value arg
	set   bool // it has a value
}

// given takes the options of a command apart, wherever they stand. It reports
// false where it cannot tell what is an option. If it need not be sure, words
// that are not literal are operands.
func (k *knownOptions) given(args []arg, sure bool) (options []givenOption, operands []arg, ok bool) {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.kind == literal && a.text == "--":
			if k.dashed {
				return options, operands, false // find -- -delete
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
		found, n := k.option(args)
		if n == 0 {
			return options, operands, false
		}
		options, args = append(options, found...), args[n:]
	}
	return options, operands, true
}

// leading returns the options that stand before the operands of a program. They are read once.
func leading(options string) func() *knownOptions {
	return sync.OnceValue(func() *knownOptions {
		k := parseOptions(options)
		k.exact = true
		return k
	})
}

// lead takes off the options before the operands. It reports false if one is
// not known, since it could take a value or run something, or if it cannot say where they end.
func (k *knownOptions) lead(args []arg) (found []givenOption, rest []arg, ok bool) {
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
		options, n := k.option(args)
		if n == 0 || a.kind > single || slices.ContainsFunc(options, givenOption.isUnknown) {
			return found, args, false
		}
		found, args = append(found, options...), args[n:]
	}
	return found, nil, true
}

// isUnknown reports whether the table does not have the option in this form.
func (o givenOption) isUnknown() bool {
	return o.known == nil || o.set && !o.known.takes && !o.known.attached
}

// has reports whether one of the options was found.
func has(found []givenOption, name string) bool {
	return slices.ContainsFunc(found, func(o givenOption) bool { return o.name == name })
}

// option reads the word of options that leads the arguments, and returns how
// many arguments it takes; none if it cannot tell.
func (k *knownOptions) option(args []arg) (found []givenOption, n int) {
	a := args[0]
	name, value, with := a.cut()
	if long, ok := strings.CutPrefix(name, "--"); ok || k.dashed && k.byName[name] != nil {
		if !ok {
			long = name
		}
		return k.long(long, value, with, args)
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
			return found, 0 // it may be attached, or none
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

// digits is the option -20.
var digits = &knownOption{names: []string{"#"}, inert: true}

// long reads a long option.
func (k *knownOptions) long(name string, value arg, with bool, args []arg) (found []givenOption, n int) {
	o := k.byName[name]
	if len(name) == 1 {
		o = nil // --f is no -f
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

// isValue reports whether the next argument is the value of an option. One that
// looks like an option itself may be one, where the value can be left out.
func (k *knownOptions) isValue(args []arg) bool {
	if len(args) == 0 || args[0].kind > single && !(k.exact && args[0].split) {
		return false
	}
	return k.exact || (args[0].kind == literal || args[0].text != "") && !strings.HasPrefix(args[0].text, "-")
}

// inert reports whether the option leaves a command what its name says.
func (o givenOption) inert() bool {
	switch {
	case o.isUnknown() || !o.known.inert:
		return false
	case o.known.values == nil:
		return true
	}
	return o.value.kind == literal && slices.Contains(o.known.values, o.value.text)
}

// eachName is a table whose rows may have several names, divided by commas, with a row
// for each of them.
func eachName[T any](rows map[string]T) map[string]T {
	table := make(map[string]T, len(rows))
	for names, row := range rows {
		for name := range strings.SplitSeq(names, ",") {
			table[name] = row
		}
	}
	return table
}

// A set holds names.
type set map[string]bool

// add adds a name.
func (s *set) add(name string) {
	if *s == nil {
		*s = make(set)
	}
	(*s)[name] = true
}

// setOf returns the set of the words in a list.
func setOf(list string) set {
	var s set
	for name := range strings.FieldsSeq(list) {
		s.add(name)
	}
	return s
}
