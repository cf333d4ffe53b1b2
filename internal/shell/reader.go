package shell

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A Reader reads a string in a call as a script. It finds the commands and files that the map
// statements of a policy name. All these statements use it as their [gate.Reader], so each script
// is read only once.
//
// All commands and files must be added before the first call to Read. After that, a Reader is safe
// for concurrent use.
type Reader struct {
	options  Options
	patterns []Pattern
	numbers  map[string]int
	byName   map[string][]int // indexes of the command patterns whose names are not globs, keyed by the family of the name; see [family]
	globs    []int            // indexes of the command patterns whose names are globs
}

// NewReader returns a reader that reads scripts with the options o. Initially, it has no patterns.
func (o Options) NewReader() *Reader {
	return &Reader{options: o, numbers: make(map[string]int), byName: make(map[string][]int)}
}

// Command adds a pattern for a command, given as words; see [Compile]. It returns the index of the
// pattern, for use as [gate.Map.Pattern]. If an equal pattern exists, Command returns that
// pattern's index.
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
		return 0, fmt.Errorf("no file system supports a name of %d bytes", len(p.name.text))
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

// Files adds a pattern for files that a script reads or writes, given as a glob; see
// [CompileFiles]. It returns the index of the pattern. If an equal pattern exists, Files returns
// that pattern's index.
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

// candidates returns the patterns that may match a command with the given name.
func (r *Reader) candidates(name string) []int {
	if len(name) > maxName {
		return nil
	}
	return r.byName[family(name)]
}

// Read reads a field as a script and looks for all patterns in one pass.
func (r *Reader) Read(_ *gate.Call, text string) gate.Reading {
	n := &numberedReading{reader: r, script: r.options.Read(text), found: make([]Outcome, len(r.patterns)), by: make([]int, len(r.patterns))}
	n.matchAll()
	return n
}

// A numberedReading holds a script and the result for each pattern of a [Reader]. It implements
// [gate.Reading], where a pattern is identified by its index in the Reader.
type numberedReading struct {
	reader *Reader
	script *Reading
	found  []Outcome
	by     []int // index of the first command that decided the outcome of each command pattern; -1 if text that was not understood decided it; unused if the outcome is NoMatch
	work   int   // number of comparisons so far between patterns and the words of commands
}

// matchAll computes the outcome of every pattern. It compares a command only with globs and with
// the patterns that have the command's name.
func (n *numberedReading) matchAll() {
commands:
	for i := range n.script.commands {
		c := &n.script.commands[i]
		for _, list := range [...][]int{n.reader.candidates(c.name), n.reader.globs} {
			for _, number := range list {
				if n.work+1+len(c.args) > maxLooks {
					n.script = &Reading{text: n.script.text, results: results{doubts: []doubt{{what: "too many commands", owner: -1}}, opaque: true}}
					break commands
				}
				n.work += 1 + len(c.args)
				if found := n.found[number].or(c.matches(&n.reader.patterns[number])); found != n.found[number] {
					n.found[number], n.by[number] = found, i
				}
			}
		}
	}
	for number, found := range n.found {
		if p := &n.reader.patterns[number]; p.files != nil {
			n.found[number], _ = n.script.Touches(*p.files)
		} else if found == NoMatch {
			if _, ok := n.script.possibleDoubt(&n.reader.patterns[number]); ok {
				n.found[number], n.by[number] = Opaque, -1
			}
		}
	}
}

// Finds reports whether the script matches a pattern. If the pattern describes a command, Finds
// reports whether the script runs it. If the pattern describes files, Finds reports whether the
// script touches any of them.
func (n *numberedReading) Finds(pattern int) gate.Found {
	if n.reader.options.Pass && n.found[pattern] == Opaque {
		return gate.NotFound
	}
	return [...]gate.Found{NoMatch: gate.NotFound, Match: gate.Surely, Opaque: gate.Perhaps}[n.found[pattern]]
}

// Only reports whether the patterns with the given indexes describe everything that the script
// does.
func (n *numberedReading) Only(patterns []int) bool {
	commands := list.Map(patterns, func(number int) Pattern { return n.reader.patterns[number] })
	ok, _ := n.script.Only(commands...)
	return ok
}

// Doubt explains why it is uncertain whether the script runs the command or touches the files, or
// why the script's success does not prove the command's success. If the script runs only a similar
// command, which lacks a word of the pattern, Doubt names this word.
func (n *numberedReading) Doubt(pattern int) gate.Doubt {
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
	case n.found[pattern] == NoMatch:
		return n.script.missingPart(p)
	}
	_, d := n.script.Runs(*p)
	return d
}

// Evidence reports whether the script's success proves that the pattern's command ran and
// succeeded.
func (n *numberedReading) Evidence(pattern int) bool {
	_, surely := n.script.evidence(&n.reader.patterns[pattern])
	return surely
}
