package shell

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A wanted value describes an option that a pattern asks for.
type wanted struct {
	text    string   // the option as written in the pattern
	names   []string // all names of the option; see [program.options]
	letters []wanted // for an option such as -rf, the one-letter options that it may stand for, here -r and -f
	value   string
	with    bool // whether the option must have a particular value, which is in the field value
}

// parseWanted parses the option at the start of words. It returns the number of words the option
// takes.
func (k *optionTable) parseWanted(words []string) (found []wanted, n int) {
	text := words[0]
	name, value, with := strings.Cut(text, "=")
	if k == nil {
		return wantedOfUnknown(text, name, value, with), 1
	}
	if long, ok := strings.CutPrefix(name, "--"); ok || k.dashed && len(name) > 2 {
		o := k.byLongName(long)
		if o != nil && o.takes && !with && len(words) > 1 {
			return []wanted{{text: text, names: o.names, value: words[1], with: true}}, 2
		}
		return o.wants(k, wanted{text: text, names: []string{long}, value: value, with: with}), 1
	}
	for i := 1; i < len(text); i++ {
		letter := text[i : i+1]
		o := k.byName[letter]
		if o == nil || !o.takes {
			found = append(found, o.wants(k, wanted{text: "-" + letter, names: []string{letter}})...)
			continue
		}
		w := wanted{text: text, names: o.names, value: text[i+1:], with: i+1 < len(text)}
		if w.with || len(words) == 1 {
			return append(found, w), 1
		}
		w.value, w.with = words[1], true
		return append(found, w), 2
	}
	return found, 1
}

// byLongName returns the option with the given long name, or nil.
func (k *optionTable) byLongName(name string) *knownOption {
	switch o := k.byName[name]; {
	case len(name) > 1 && o != nil:
		return o
	case k.dashed:
		return k.byName["-"+name] // go test accepts --race instead of -race
	}
	return nil
}

// wants returns the options that a command must have if a pattern has the option w. The receiver is
// the entry for w in the table k, or nil if w is not in the table. If w implies other options,
// wants returns these; for example, -D of git branch implies -d and -f. Otherwise, it returns w
// with all the names that the entry lists. If the receiver is nil, it returns w unchanged.
func (o *knownOption) wants(k *optionTable, w wanted) []wanted {
	switch {
	case o == nil:
		return []wanted{w}
	case o.implies == nil:
		w.names = o.names
		return []wanted{w}
	}
	return list.Map(o.implies, func(name string) wanted { return wanted{text: "-" + name, names: k.byName[name].names} })
}

// wantedOfUnknown returns the options to look for if a pattern contains an option of a program that
// is in no table.
func wantedOfUnknown(text, name, value string, with bool) []wanted {
	if long, ok := strings.CutPrefix(name, "--"); ok {
		return []wanted{{text: text, names: []string{long}, value: value, with: with}}
	}
	w := wanted{text: text, names: []string{name[1:]}, value: value, with: with}
	if len(name) > 2 {
		w.names[0] = name
		for i := 1; i < len(name); i++ {
			w.letters = append(w.letters, wanted{text: "-" + name[i:i+1], names: []string{name[i : i+1]}})
		}
	}
	return []wanted{w}
}

// given reports whether args contain the option w. It ignores the values of other options and the
// arguments after --.
func (w *wanted) given(k *optionTable, args []arg) Outcome {
	found := NoMatch
	for i := 0; i < len(args); i++ {
		if k != nil && args[i].kind == literal && (args[i].text == "--" && !k.dashed || args[i].text == "--end-of-options") {
			found = found.or(w.inOperands(args[i+1:]))
			break
		}
		if found = found.or(w.matchFirst(k, args[i:])); found == Match {
			return Match
		}
		if k.takesNext(args[i:]) {
			i++
		}
	}
	if len(w.letters) == 0 {
		return found
	}
	together := Match
	for i := range w.letters {
		together = together.and(w.letters[i].given(k, args))
	}
	return found.or(together)
}

// inOperands reports whether any of args has the effect of the option w. args are the operands
// after --. For example, in git push origin -- +main, the operand +main has the effect of --force.
func (w *wanted) inOperands(args []arg) Outcome {
	found := NoMatch
	for _, a := range args {
		switch {
		case !slices.Contains(w.names, "+") && !slices.Contains(w.names, ":"):
			return NoMatch
		case a.text != "" && slices.Contains(w.names, a.text[:1]):
			return Match
		case a.kind != literal && a.text == "" && !a.name:
			found = Opaque
		}
	}
	return found
}

// takesNext reports whether args[0] is an option that takes args[1] as its value.
func (k *optionTable) takesNext(args []arg) bool {
	if k == nil || len(args) < 2 || args[0].kind != literal || !isOption(args[0].text) {
		return false
	}
	name, _, with := strings.Cut(args[0].text, "=")
	if long, ok := strings.CutPrefix(name, "--"); ok || k.dashed && k.byName[name] != nil {
		o := k.byLongName(long)
		return o != nil && o.takes && !with
	}
	for i := 1; i < len(name); i++ {
		if o := k.byName[name[i:i+1]]; o != nil && o.takes {
			return i == len(args[0].text)-1
		}
	}
	return false
}

// matchFirst reports whether args[0] is the option w, or combines w with other options, as in -xvf.
func (w *wanted) matchFirst(k *optionTable, args []arg) Outcome {
	a := args[0]
	switch {
	case a.kind == literal && a.text == w.text && !w.with:
		return Match
	case a.kind == anything:
		return Opaque
	case a.name && a.text == "":
		return NoMatch
	case a.kind != literal && a.text == "":
		return w.ends(a)
	case strings.HasPrefix(a.text, "--"):
		return w.inLong(k, args)
	case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
		return w.inLetters(k, args)
	case a.text == "-" && a.kind != literal:
		return Opaque
	case (strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":")) && slices.Contains(w.names, a.text[:1]):
		return Match // the + or : has the effect of the option, as in git push origin +main
	}
	return NoMatch
}

// ends reports whether an argument whose start is unknown may be the option w.
func (w *wanted) ends(a arg) Outcome {
	if a.canBe(w.text) || slices.ContainsFunc(w.names, func(n string) bool { return a.canBe("-"+n) || a.canBe("--"+n) }) {
		return Opaque
	}
	return NoMatch
}

// inLong reports whether args[0], which has the form --name or --name=value, is the option w.
func (w *wanted) inLong(k *optionTable, args []arg) Outcome {
	name, value, with := args[0].cut()
	name = name[2:]
	var o *knownOption
	if k != nil && (args[0].kind == literal || with) {
		o = k.byLongName(name)
	}
	switch {
	case o != nil && w.is(o), o == nil && len(name) > 1 && slices.Contains(w.names, name) && (args[0].kind == literal || with):
		return w.valued(value, with, args[1:])
	case o != nil:
		return NoMatch
	}
	for _, n := range w.names {
		n = strings.TrimPrefix(n, "-")
		short := len(n) == 1 && len(w.names) == 1
		if name != "" && strings.HasPrefix(n, name) && (len(n) > 1 || args[0].kind != literal) || k == nil && short && strings.HasPrefix(name, n) {
			return Opaque // name may be an abbreviation, such as --forc, or the long form of -f
		}
	}
	return NoMatch
}

// inLetters reports whether the option w is among the letters of args[0], such as -abc. If the
// program's long options begin with a single dash, -abc is a single option.
func (w *wanted) inLetters(k *optionTable, args []arg) Outcome {
	a := args[0]
	if k != nil && k.dashed && len(a.text) > 2 {
		name, value, with := a.cut()
		switch {
		case slices.Contains(w.names, name):
			return w.valued(value, with, args[1:])
		case a.kind != literal && slices.ContainsFunc(w.names, func(n string) bool { return strings.HasPrefix(n, name) }):
			return Opaque
		}
		return NoMatch
	}
	for i := 1; i < len(a.text); i++ {
		letter := a.text[i : i+1]
		var o *knownOption
		if k != nil {
			o = k.byName[letter]
		}
		switch {
		case o != nil && w.is(o), slices.Contains(w.names, letter):
			rest := arg{kind: a.kind, text: a.text[i+1:], tail: a.tail}
			return w.valued(rest, rest.text != "" || rest.kind != literal, args[1:])
		case o != nil && o.takes:
			return NoMatch // the remaining letters are the option's value
		case k == nil && w.begins(letter):
			return Opaque // -f may be an abbreviation of --force
		}
	}
	if a.kind != literal && slices.ContainsFunc(w.names, func(n string) bool { return len(n) == 1 }) {
		return Opaque
	}
	return NoMatch
}

// is reports whether o, an option in a table, is the option w or implies it.
func (w *wanted) is(o *knownOption) bool {
	return slices.ContainsFunc(w.names, func(n string) bool { return slices.Contains(o.names, n) || slices.Contains(o.implies, n) })
}

// begins reports whether the given letter may be the short form of the long option w of a program
// that is in no table.
func (w *wanted) begins(letter string) bool {
	return len(w.names) == 1 && len(w.names[0]) > 1 && w.names[0][0] != '-' && strings.EqualFold(w.names[0][:1], letter)
}

// valued reports whether an option found in the arguments has the value that the wanted option
// requires.
func (w *wanted) valued(attached arg, with bool, rest []arg) Outcome {
	if !w.with {
		return Match
	}
	if !with {
		if len(rest) == 0 {
			return NoMatch
		}
		attached = rest[0]
	}
	switch {
	case attached.kind == literal && attached.text == w.value:
		return Match
	case attached.kind == anything || attached.canBe(w.value):
		return Opaque
	}
	return NoMatch
}
