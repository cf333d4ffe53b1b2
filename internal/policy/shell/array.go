package shell

import "strings"

// arrays is what is known of the arrays of a script. bash reads a value once
// more that declare or its kin give to an array, and runs what stands in it:
// declare -a x='($(rm y))'.
type arrays struct {
	names  map[string]bool // are arrays
	filled map[string]bool // declare gives them a value that is not literal
}

// add notes that a variable is an array.
func (s *arrays) add(name string) {
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

// fill notes that declare gives a variable a value that is not literal.
func (s *arrays) fill(name string) {
	if s.filled == nil {
		s.filled = map[string]bool{}
	}
	s.filled[name] = true
}

// read reports whether a value that is not known may be read as an array.
func (s *arrays) read() bool {
	for name := range s.filled {
		if s.names[name] {
			return true
		}
	}
	return false
}

// assignment is name=value as one argument.
func assignment(name string, value arg) arg {
	return arg{kind: value.kind, text: name + "=" + value.text, tail: value.tail}
}

// readCompounds reads the values among the arguments of declare and its kin that
// may be those of an array.
func readCompounds(r *reader, args []arg) {
	array := false
	for _, a := range args {
		array = array || strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "aA")
	}
	for _, a := range args {
		name, value, ok := strings.Cut(a.text, "=")
		name = strings.TrimSuffix(name, "+")
		switch {
		case !ok:
			if array {
				r.vars.arrays.add(name)
			}
		case strings.HasPrefix(value, "("):
			if a.kind != literal || strings.ContainsAny(value, "$`<>") {
				r.unsure("an array that is read from text")
			}
		case a.kind != literal && value == "":
			r.vars.arrays.fill(name)
			if array {
				r.vars.arrays.add(name)
			}
		}
	}
}

// isCounter reports whether bash evaluates every value that a variable gets.
func isCounter(name string) bool {
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO", "BASHPID", "BASH_SUBSHELL", "BASH_MONOSECONDS", "EPOCHSECONDS", "EPOCHREALTIME":
		return true
	}
	return false
}
