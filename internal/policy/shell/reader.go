package shell

import (
	"fmt"
	"strings"
	"unicode"

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
	byName   map[string][]int // the patterns of a name, see family
}

// NewReader returns a reader that looks for nothing yet.
func NewReader() *Reader {
	return &Reader{numbers: make(map[string]int), byName: make(map[string][]int)}
}

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
	if len(p.name) > maxName {
		return 0, fmt.Errorf("no file system has a name of %d bytes", len(p.name))
	}
	n := len(r.patterns)
	r.numbers[key] = n
	r.byName[family(p.name)] = append(r.byName[family(p.name)], n)
	r.patterns = append(r.patterns, p)
	return n, nil
}

// folded is what the names have in common that a file system may take for one.
func folded(name string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// named are the patterns that a command with this name may carry.
func (r *Reader) named(name string) []int {
	if len(name) > maxName {
		return nil
	}
	return r.byName[family(name)]
}

// Read reads a field as a script, in one pass for all commands.
func (r *Reader) Read(_ *gate.Call, text string) gate.Reading {
	n := &numbered{reader: r, script: Read(text), found: make([]Outcome, len(r.patterns))}
	n.look()
	return n
}

// numbered is a [Reading] that is asked for patterns by number.
type numbered struct {
	reader *Reader
	script *Reading
	found  []Outcome
	work   int // arguments that were looked at for patterns
}

// look finds all patterns. Each command is held against those of its name.
func (n *numbered) look() {
commands:
	for _, c := range n.script.commands {
		for _, number := range n.reader.named(c.name) {
			if n.work+1+len(c.args) > maxLooks {
				n.script = &Reading{doubt: "too many commands"}
				break commands
			}
			n.work += 1 + len(c.args)
			n.found[number] = n.found[number].or(c.carries(n.reader.patterns[number]))
		}
	}
	for number, found := range n.found {
		if found == NoMatch && n.script.perhaps(n.reader.patterns[number]) {
			n.found[number] = Opaque
		}
	}
}

// Finds says whether the script runs the command.
func (n *numbered) Finds(pattern int) gate.Found {
	return [...]gate.Found{NoMatch: gate.NotFound, Match: gate.Surely, Opaque: gate.Perhaps}[n.found[pattern]]
}

// Only says whether the script runs nothing but these commands.
func (n *numbered) Only(patterns []int) bool {
	commands := make([]Pattern, len(patterns))
	for i, p := range patterns {
		commands[i] = n.reader.patterns[p]
	}
	return n.script.Only(commands...)
}

// Evidence says whether the success of the script proves the command.
func (n *numbered) Evidence(pattern int) bool {
	return n.script.Evidence(n.reader.patterns[pattern])
}
