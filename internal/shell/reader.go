package shell

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A Reader reads fields of calls as scripts, for the maps of a policy. It is
// their [gate.Reader], so that a script is read once for all of them.
//
// All commands are to be added before the first call is read; after that it is
// safe for concurrent use.
type Reader struct {
	patterns []Pattern
	numbers  map[string]int
}

// NewReader returns a reader that looks for nothing yet.
func NewReader() *Reader { return &Reader{numbers: make(map[string]int)} }

// Command adds the words of a command, see [Compile]. The pattern is its
// number, for [gate.Map.Pattern]; equal commands have one.
func (r *Reader) Command(words []string) (pattern int, err error) {
	key := strings.Join(words, "\x00")
	if n, ok := r.numbers[key]; ok {
		return n, nil
	}
	p, err := Compile(words)
	if err != nil {
		return 0, err
	}
	r.numbers[key] = len(r.patterns)
	r.patterns = append(r.patterns, p)
	return len(r.patterns) - 1, nil
}

// Read reads a field as a script.
func (r *Reader) Read(_ *gate.Call, text string) gate.Reading {
	return numbered{reader: r, script: Read(text)}
}

// numbered is a [Reading] that is asked for patterns by number.
type numbered struct {
	reader *Reader
	script *Reading
}

// Finds says whether the script runs the command.
func (n numbered) Finds(pattern int) gate.Found {
	switch n.script.Runs(n.reader.patterns[pattern]) {
	case Match:
		return gate.Surely
	case Opaque:
		return gate.Perhaps
	default:
		return gate.NotFound
	}
}

// Only says whether the script runs nothing but these commands.
func (n numbered) Only(patterns []int) bool {
	commands := make([]Pattern, len(patterns))
	for i, p := range patterns {
		commands[i] = n.reader.patterns[p]
	}
	return n.script.Only(commands...)
}

// Evidence says whether the success of the script proves the command.
func (n numbered) Evidence(pattern int) bool {
	return n.script.Evidence(n.reader.patterns[pattern])
}
