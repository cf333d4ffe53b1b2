package shell

import "strings"

// A form is how a program reads the options that stand before its operands.
// An option that is not in it makes the reading opaque: it could take a value,
// or be one that runs something.
type form struct {
	flags  string // letters of the options without a value
	values string // letters of the options with a value
	long   string // long options, divided by spaces; those with a value end in "="
}

// An option is one that was found.
type option struct {
	name  string // "u", "--user"
	value arg
}

// options takes the options off the arguments. It reports false if it cannot
// say where they end.
func (f form) options(args []arg) (found []option, rest []arg, ok bool) {
	for len(args) > 0 {
		a := args[0]
		if a.kind != literal && !strings.HasPrefix(a.text, "-") {
			return found, args, a.kind == single && (a.text != "" || strings.HasPrefix(a.tail, "/"))
		}
		if a.text == "--" {
			return found, args[1:], a.kind == literal
		}
		if len(a.text) < 2 || a.text[0] != '-' {
			return found, args, true
		}
		o, n, known := f.option(args)
		if !known {
			return found, args, false
		}
		found = append(found, o...)
		args = args[n:]
	}
	return found, nil, true
}

// option reads the option that leads the arguments, or the letters of one word,
// and returns how many arguments it takes.
func (f form) option(args []arg) (found []option, n int, ok bool) {
	a := args[0]
	if strings.HasPrefix(a.text, "--") || f.hasLong(a.text) {
		return f.longOption(args)
	}
	for i := 1; i < len(a.text); i++ {
		letter := a.text[i : i+1]
		if strings.Contains(f.flags, letter) {
			found = append(found, option{name: letter})
			continue
		}
		if !strings.Contains(f.values, letter) {
			return nil, 0, false
		}
		value, n, ok := valueOf(args, arg{kind: a.kind, text: a.text[i+1:], tail: a.tail})
		return append(found, option{letter, value}), n, ok
	}
	return found, 1, a.kind == literal
}

// longOption reads --name or --name=value.
func (f form) longOption(args []arg) (found []option, n int, ok bool) {
	name, value, with := strings.Cut(args[0].text, "=")
	switch {
	case with && f.hasLong(name+"="):
		return []option{{name, arg{kind: args[0].kind, text: value, tail: args[0].tail}}}, 1, args[0].kind <= single
	case args[0].kind != literal || with:
		return nil, 0, false
	case f.hasLong(name):
		return []option{{name: name}}, 1, true
	case f.hasLong(name + "="):
		v, n, ok := valueOf(args, arg{})
		return []option{{name, v}}, n, ok
	}
	return nil, 0, false
}

// valueOf returns the value of an option: what is attached to it, or else the next argument.
func valueOf(args []arg, attached arg) (value arg, n int, ok bool) {
	switch {
	case attached.kind > single:
		return arg{}, 0, false
	case attached.text != "" || attached.tail != "":
		return attached, 1, true
	case attached.kind != literal || len(args) < 2 || args[1].kind > single:
		return arg{}, 0, false // it may be attached, or many words, or none
	}
	return args[1], 2, true
}

// hasLong reports whether a long option is in the form. Those of find and its
// kin begin with one dash.
func (f form) hasLong(name string) bool {
	for rest := f.long; rest != ""; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		if word == name {
			return true
		}
	}
	return false
}

// has reports whether one of the options was found.
func has(found []option, names ...string) bool {
	for _, o := range found {
		for _, n := range names {
			if o.name == n {
				return true
			}
		}
	}
	return false
}

// shortens reports whether an argument is a long option, or one that is cut short.
func shortens(text, option string) bool {
	return len(text) > 2 && strings.HasPrefix(option, text)
}
