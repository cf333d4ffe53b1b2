package shell

import (
	"fmt"
	"maps"
	"strings"
	"sync"
)

// TableProblems returns the mistakes in the table of programs.
func TableProblems() (problems []string) {
	for name, p := range programs {
		known, words := parseOptions(p.options), 0
		for word := range strings.FieldsSeq(p.options) {
			word, _, _ = strings.Cut(strings.TrimLeft(word, "!?"), "=")
			word, _, _ = strings.Cut(word, ">")
			words += 1 + strings.Count(word, "|")
			if strings.HasPrefix(word, "|") || strings.HasSuffix(word, "|") || strings.Contains(word, "||") {
				problems = append(problems, fmt.Sprintf("%s has an option without a name: %q", name, word))
			}
		}
		if known.digits {
			words--
		}
		if words != len(known.byName) {
			problems = append(problems, fmt.Sprintf("%s has an option twice", name))
		}
		for n, o := range known.byName {
			for _, other := range o.implies {
				if known.byName[other] == nil {
					problems = append(problems, fmt.Sprintf("%s: %s stands for %q, which is not there", name, n, other))
				}
			}
		}
	}
	return problems
}

// Fitting returns how many bytes of a repeated unit can still be parsed.
func Fitting(unit string) int {
	n := 1
	for text := unit; len(text) < maxScript; text += text {
		if pieces(text) > maxPieces || weight(text) > maxWeight {
			break
		}
		n = len(text)
	}
	for _, more := range []int{n / 2, n / 4, n / 8} {
		text := strings.Repeat(unit, (n+more)/len(unit))
		if pieces(text) <= maxPieces && weight(text) <= maxWeight {
			n += more
		}
	}
	return n
}

// Work returns the work done to read a script for the patterns of a reader.
func Work(r *Reader, script string) (pieces, arguments, looks int) {
	read := Options{}.newReader(script)
	read.script(script)
	return read.work, read.argCount, r.Read(nil, script).(*numberedReading).work
}

// The bounds of that work.
const (
	MaxWork  = maxWork
	MaxKept  = maxArgs
	MaxLooks = maxLooks
)

// Learn adds one entry to each of several tables, and returns a function that removes the entries.
func Learn() (forget func()) {
	known := knownPrograms
	programs["frob check"] = program{options: "v|verbose !n|dry-run"}
	knownPrograms = sync.OnceValue(func() map[string]*optionTable {
		all := maps.Clone(known())
		all["frob check"] = parseOptions(programs["frob check"].options)
		return all
	})
	subcommands["frob"] = lazyOptions("C|directory=")
	wrappers["frobwrap"] = wrapper{options: lazyOptions("t="), transparent: true}
	launches["frobx"] = launch{options: lazyOptions("y")}
	fileTable["frob"] = fileRule{writes: true}
	return func() {
		knownPrograms = known
		delete(programs, "frob check")
		delete(subcommands, "frob")
		delete(wrappers, "frobwrap")
		delete(launches, "frobx")
		delete(fileTable, "frob")
	}
}

// Doubt returns the first reason why the script is not fully understood. A doubt about the whole
// script takes precedence; such a reading can still give [Match], but never [NoMatch]. ok is false
// if there are no doubts.
func (r *Reading) Doubt() (d Doubt, ok bool) {
	for i := range r.doubts {
		if r.doubts[i].reach == all || !r.opaque {
			return r.exported(&r.doubts[i]), true
		}
	}
	return Doubt{}, false
}
