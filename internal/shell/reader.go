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
	options  Options
	patterns []Pattern
	numbers  map[string]int
	byName   map[string][]int // the patterns of a name, see family
	globs    []int            // the patterns whose names are globs
}

// NewReader returns a reader that looks for nothing yet.
func NewReader() *Reader { return Options{}.NewReader() }

// NewReader returns a reader that looks for nothing yet.
func (o Options) NewReader() *Reader {
	return &Reader{options: o, numbers: make(map[string]int), byName: make(map[string][]int)}
}

// Command adds the words of a command, see [Compile]. The pattern is its
// number, for [gate.Map.Pattern]; equal commands have one.
func (r *Reader) Command(words []string, exactly bool) (pattern int, err error) {
	key := fmt.Sprint(exactly) + "\x00" + strings.Join(words, "\x00")
	if n, ok := r.numbers[key]; ok {
		return n, nil
	}
	p, err := Compile(words, exactly)
	if err != nil {
		return 0, err
	}
	if len(p.name.text) > maxName {
		return 0, fmt.Errorf("no file system has a name of %d bytes", len(p.name.text))
	}
	n := len(r.patterns)
	r.numbers[key] = n
	if p.name.glob {
		r.globs = append(r.globs, n)
	} else {
		r.byName[family(p.name.text)] = append(r.byName[family(p.name.text)], n)
	}
	r.patterns = append(r.patterns, p)
	return n, nil
}

// Files adds a glob over the files that a script reads or writes, see [CompileFiles].
func (r *Reader) Files(access Access, glob string) (pattern int, err error) {
	key := access.String() + "\x00" + glob
	if n, ok := r.numbers[key]; ok {
		return n, nil
	}
	p, err := CompileFiles(access, glob)
	if err != nil {
		return 0, err
	}
	n := len(r.patterns)
	r.numbers[key] = n
	r.patterns = append(r.patterns, Pattern{files: &p, source: access.String() + " " + glob})
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
	n := &numbered{reader: r, script: r.options.Read(text), found: make([]Outcome, len(r.patterns)), by: make([]int, len(r.patterns))}
	n.look()
	return n
}

// numbered is a [Reading] that is asked for patterns by number.
type numbered struct {
	reader *Reader
	script *Reading
	found  []Outcome
	by     []int // the first command of that outcome
	work   int   // arguments that were looked at for patterns
}

// look finds all patterns. Each command is held against those of its name.
func (n *numbered) look() {
commands:
	for i := range n.script.commands {
		c := &n.script.commands[i]
		for _, list := range [...][]int{n.reader.named(c.name), n.reader.globs} {
			for _, number := range list {
				if n.work+1+len(c.args) > maxLooks {
					n.script = &Reading{text: n.script.text, doubts: []doubt{{what: "too many commands", owner: -1}}, opaque: true}
					break commands
				}
				n.work += 1 + len(c.args)
				if found := n.found[number].or(c.carries(&n.reader.patterns[number])); found != n.found[number] {
					n.found[number], n.by[number] = found, i
				}
			}
		}
	}
	for number, found := range n.found {
		if p := &n.reader.patterns[number]; p.files != nil {
			n.found[number], _ = n.script.Touches(*p.files)
		} else if found == NoMatch {
			if _, ok := n.script.perhaps(&n.reader.patterns[number]); ok {
				n.found[number], n.by[number] = Opaque, -1
			}
		}
	}
}

// Finds says whether the script runs the command.
func (n *numbered) Finds(pattern int) gate.Found {
	if n.reader.options.Pass && n.found[pattern] == Opaque {
		return gate.NotFound
	}
	return [...]gate.Found{NoMatch: gate.NotFound, Match: gate.Surely, Opaque: gate.Perhaps}[n.found[pattern]]
}

// Only says whether the script runs nothing but these commands.
func (n *numbered) Only(patterns []int) bool {
	commands := make([]Pattern, len(patterns))
	for i, p := range patterns {
		commands[i] = n.reader.patterns[p]
	}
	ok, _ := n.script.Only(commands...)
	return ok
}

// Doubt says why it is not known whether the script runs the command, or why its success would not
// show it; where it does not run it, what is missing in a command that begins like it.
func (n *numbered) Doubt(pattern int) gate.Doubt {
	p := &n.reader.patterns[pattern]
	switch {
	case p.files != nil:
		_, d := n.script.Touches(*p.files)
		return d
	case n.found[pattern] == Match:
		_, d := n.script.Surely(*p)
		if by := n.by[pattern]; d.What == "" && by < len(n.script.commands) {
			c := &n.script.commands[by]
			d.Code, d.At = n.script.code(c.from, c.to), n.script.character(c.from)
		}
		return d
	}
	if n.found[pattern] == NoMatch {
		return n.script.lacking(p)
	}
	_, d := n.script.Runs(*p)
	return d
}

// Evidence says whether the success of the script proves the command.
func (n *numbered) Evidence(pattern int) bool {
	return n.script.shows(&n.reader.patterns[pattern])
}
