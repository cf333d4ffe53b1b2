package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A RuleText is a text of rules: a file, or a part of the configuration.
type RuleText struct {
	File string // as messages name it
	Text string

	// Where the text stands in File. A block (|) keeps its lines; quoted and
	// plain text has one place only.
	inline       bool
	block        bool
	line, column int
}

// Position is the place in File of a line and a column of Text.
func (r RuleText) Position(line, column int) Position {
	switch {
	case !r.inline || line == 0:
		return Position{File: r.File, Line: line, Column: column}
	case r.block:
		return Position{File: r.File, Line: r.line + line - 1, Column: r.column + column - 1}
	case line == 1:
		return Position{File: r.File, Line: r.line, Column: r.column + column - 1}
	default:
		return Position{File: r.File, Line: r.line, Column: r.column}
	}
}

func (d *decoder) rules(to *[]RuleText) func(key, value *node) {
	return func(key, value *node) {
		switch {
		case value.kind == textKind:
			*to = append(*to, d.inlineRules(value)...)
		case value.kind == mapKind:
			d.at(value, `"rules" must be a list or one text, not a mapping`, `begin the entry with "- "`)
		case d.is(value, listKind, quoted(key)):
			d.notEmpty(key, value)
			for _, item := range value.items {
				*to = append(*to, d.ruleEntry(item)...)
			}
		}
	}
}

func (d *decoder) notEmpty(key, list *node) {
	if len(list.items) == 0 {
		d.at(list, fmt.Sprintf("%q is empty", key.text), "leave the key out")
	}
}

func (d *decoder) ruleEntry(n *node) []RuleText {
	if n.kind == textKind {
		d.at(n, `an entry of "rules" must be a mapping, not text`, `write "file: ..." or "inline: ..."`)
		return nil
	}
	var texts []RuleText
	d.mapping(n, `an entry of "rules"`, keys{
		"file": func(key, value *node) {
			for _, f := range d.files(key, value) {
				texts = append(texts, RuleText{File: f.name, Text: f.text})
			}
		},
		"inline": func(key, value *node) {
			if d.is(value, textKind, quoted(key)) {
				texts = append(texts, d.inlineRules(value)...)
			}
		},
	})
	if n.kind == mapKind && len(n.fields) != 1 {
		d.at(n, `an entry of "rules" has one key, "file" or "inline"`, "")
	}
	return texts
}

func (d *decoder) inlineRules(n *node) []RuleText {
	if strings.TrimSpace(n.text) == "" {
		d.at(n, "the rules are empty", "")
		return nil
	}
	r := RuleText{File: d.name, Text: n.text, inline: true, line: n.line, column: n.column}
	if n.block {
		r.line, r.column, r.block = n.line+1, d.indent(n), true
	} else if rest := []rune(d.lines[n.line-1]); n.column <= len(rest) && strings.ContainsRune(`"'`, rest[n.column-1]) {
		r.column++
	}
	return []RuleText{r}
}

// indent is the column at which the lines of a block start.
func (d *decoder) indent(n *node) int {
	for i, text := range strings.Split(n.text, "\n") {
		at := n.line + i
		if text == "" || at >= len(d.lines) {
			continue
		}
		if before, ok := strings.CutSuffix(d.lines[at], text); ok {
			return len(before) + 1
		}
	}
	return 1
}

// A textFile is a file that a "file" key matched.
type textFile struct{ name, text string }

// files reads what the pattern of a "file" key matches. Rules that are not
// there would allow what they forbid, so every doubt is an error.
func (d *decoder) files(key, value *node) []textFile {
	if !d.is(value, textKind, quoted(key)) {
		return nil
	}
	files, err := d.match(value.text)
	if err != nil {
		d.at(value, err.Error(), "")
	}
	for _, f := range files {
		if writable(f.name) {
			d.warn(value, fmt.Sprintf("anybody may change %q", f.name), "chmod o-w")
		}
	}
	return files
}

// match reads the files of a pattern in the byte order of their names.
func (e *environment) match(pattern string) ([]textFile, error) {
	names, err := e.glob(pattern)
	if err != nil {
		return nil, err
	}
	files := make([]textFile, 0, len(names))
	for _, name := range names {
		data, err := readFile(name, maxSize)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("no file matches %q", pattern)
		case err != nil:
			return nil, fmt.Errorf("reading %q: %v", name, cause(err))
		case strings.TrimSpace(string(data)) == "":
			return nil, fmt.Errorf("the file %q is empty", name)
		}
		files = append(files, textFile{name, string(data)})
	}
	return files, nil
}

func (e *environment) glob(pattern string) ([]string, error) {
	switch {
	case pattern == "":
		return nil, errors.New(`"file" is empty`)
	case strings.Contains(pattern, "**"):
		return nil, fmt.Errorf("%q: ** is not supported, * stays within one directory", pattern)
	case !strings.ContainsAny(pattern, "*?["):
		return []string{e.path(pattern)}, nil
	}
	if literal := e.path(pattern); exists(literal) {
		return []string{literal}, nil
	}
	full := pattern
	if !filepath.IsAbs(pattern) {
		full = filepath.Join(escape(e.dir), pattern)
	}
	names, err := filepath.Glob(full)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no pattern: %v", pattern, err)
	case len(names) == 0:
		return nil, fmt.Errorf("no file matches %q", pattern)
	}
	slices.Sort(names)
	return names, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// escape makes a directory mean itself in a pattern.
func escape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ReadRules reads the rules files that a pattern matches, as the "file" key
// does; relative paths are those of the process.
func ReadRules(pattern string) ([]RuleText, error) {
	files, err := (&environment{}).match(pattern)
	if err != nil {
		return nil, &Error{Msg: err.Error()}
	}
	texts := make([]RuleText, len(files))
	for i, f := range files {
		texts[i] = RuleText{File: f.name, Text: f.text}
	}
	return texts, nil
}

// ReadNets reads the files of nets that a pattern matches.
func ReadNets(pattern string) ([]Net, error) {
	files, err := (&environment{}).match(pattern)
	if err != nil {
		return nil, &Error{Msg: err.Error()}
	}
	var nets []Net
	for _, f := range files {
		more, err := ParseNet(f.name, []byte(f.text))
		if err != nil {
			return nil, err
		}
		nets = append(nets, more...)
	}
	return nets, nil
}

// nets reads the "nets" key of a configuration.
func (d *decoder) nets(to *[]Net) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, listKind, quoted(key)) {
			return
		}
		d.notEmpty(key, value)
		for _, item := range value.items {
			*to = append(*to, d.netEntry(item)...)
		}
		d.uniqueNets(*to)
	}
}

func (d *decoder) netEntry(n *node) []Net {
	if n.get("file") == nil && n.get("inline") == nil {
		return []Net{d.net(n)}
	}
	var nets []Net
	d.mapping(n, `an entry of "nets"`, keys{
		"file": func(key, value *node) {
			for _, f := range d.files(key, value) {
				inner := &decoder{source: &source{name: f.name}, environment: d.environment}
				nets = append(nets, inner.netFile([]byte(f.text))...)
				inner.errs.sorted()
				d.errs = append(d.errs, inner.errs...)
			}
		},
		"inline": func(_, value *node) { nets = append(nets, d.net(value)) },
	})
	if len(n.fields) != 1 {
		d.at(n, `an entry of "nets" has one key, "file" or "inline", or the keys of a net`, "")
	}
	return nets
}

func (d *decoder) uniqueNets(nets []Net) {
	seen := make(map[string]Position, len(nets))
	for _, net := range nets {
		first, ok := seen[net.Name]
		if ok && net.Name != "" {
			d.errs = append(d.errs, &Error{File: net.Position.File, Line: net.Position.Line, Column: net.Position.Column,
				Msg: fmt.Sprintf("duplicate net %q", net.Name), Hint: "the first is at " + first.String()})
		}
		seen[net.Name] = net.Position
	}
}
