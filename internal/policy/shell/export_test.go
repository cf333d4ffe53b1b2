package shell

import (
	"fmt"
	"strings"
)

// TableProblems are the mistakes in the table of programs.
func TableProblems() (problems []string) {
	for name, p := range programs {
		seen := make(map[string]bool)
		known := parseOptions(p.options)
		for _, o := range known.all {
			for _, n := range o.names {
				if seen[n] || n == "" {
					problems = append(problems, fmt.Sprintf("%s has the option %q twice", name, n))
				}
				seen[n] = true
			}
			for _, n := range o.implies {
				if known.byName[n] == nil {
					problems = append(problems, fmt.Sprintf("%s: %v stands for %q, which is not there", name, o.names, n))
				}
			}
		}
	}
	return problems
}

// Fitting is how many bytes of a unit are not too many pieces to be parsed.
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

// Work is how much was done to read a script for the patterns of a reader.
func Work(r *Reader, script string) (pieces, arguments, looks int) {
	read := &reader{budget: 2 * maxScript}
	read.script(script)
	return read.work, read.kept, r.Read(nil, script).(*numbered).work
}

// The bounds of it.
const (
	MaxWork  = maxWork
	MaxKept  = maxKept
	MaxLooks = maxLooks
)
