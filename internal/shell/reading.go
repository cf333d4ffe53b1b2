package shell

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Reading is the result of reading a script: the commands that the script runs, the files that it
// touches, and the parts that were not fully understood. The zero value is the reading of an empty
// script.
type Reading struct {
	results
	text      string
	codePaths []codePath
	moreCode  bool // whether codePaths is incomplete
}

// Options control how scripts are read. The zero value selects the defaults.
type Options struct {
	Strict bool // whether to assume that a part of the script that was not understood might run any command; see [Doubt]
	Pass   bool // whether a [Reader] reports an uncertain match as no match
}

// Read parses a script with the default options. It never fails. If it does not understand a part
// of the script, it records a [Doubt]. A script that cannot be parsed, is too long or too deeply
// nested, or has too many words, is not read at all: it counts as a script that might run any
// command.
func Read(script string) *Reading { return Options{}.Read(script) }

// Read parses a script with these options; see [Read].
func (o Options) Read(script string) *Reading {
	r := o.newReader(script)
	r.script(script)
	r.settle()
	for i := range r.commands {
		if c := &r.commands[i]; c.unknown && len(c.args) > 0 {
			r.doubts = append(r.doubts, doubt{what: "an unknown program that may run its arguments", reach: mild, from: c.from, to: c.to, owner: i, before: i})
			r.mentions.add(c.args, len(r.doubts)-1)
		}
	}
	read := &Reading{results: r.results, text: script}
	read.codePaths, read.moreCode = r.codePaths()
	return read
}

// newReader returns a reader of a script.
func (o Options) newReader(script string) *reader {
	r := &reader{budget: 2 * maxScript, flow: flow{uncertain: new(bool)}}
	r.findings = findings{results: results{strict: o.Strict}, outermost: script, owner: -1}
	r.nested = r
	return r
}

// settle records the uncertainties that can be found only after the whole script has been read.
func (r *reader) settle() {
	r.at, r.owner, r.settling = nil, -1, true
	r.scope.settle()
	if r.files.dashed && slices.ContainsFunc(r.commands, func(c command) bool { return !isSelfContained(c.name) && c.takesOptions() }) {
		r.doubtAll("file names that could be interpreted as options")
	}
	r.runsWritten()
	if r.mayBeObeyed() || r.files.runsPackage(r.commands) {
		r.doubts = append(r.doubts, doubt{what: "a file that the script itself writes, and a program that may read it as its configuration", reach: mild, owner: -1})
		r.mentions.add(r.files.data, len(r.doubts)-1)
	}
}

// exported converts an internal doubt to the exported type [Doubt].
func (r *Reading) exported(d *doubt) Doubt {
	return Doubt{What: d.what, Code: r.code(d.from, d.to), At: r.character(d.from), Advice: advice(d.what)}
}

// character converts a byte offset to a character position, starting at 1.
func (r *Reading) character(at int) int {
	return utf8.RuneCountInString(r.text[:min(at, len(r.text))]) + 1
}

// code returns the first line of a part of the script for display, possibly shortened.
func (r *Reading) code(from, to int) string {
	if to == 0 {
		return ""
	}
	line, _, more := strings.Cut(strings.TrimRight(strings.TrimSpace(r.text[from:to]), ";"), "\n")
	if utf8.RuneCountInString(line) > longestCode {
		return string([]rune(line)[:longestCode-3]) + "..."
	}
	if more {
		return line + " ..."
	}
	return line
}

// longestCode is the maximum number of characters of a command that are displayed.
const longestCode = 60
