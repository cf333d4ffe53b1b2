package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A results value holds everything that was found in a script: its commands, the parts that were
// not understood (doubts), and more.
type results struct {
	commands    []command
	doubts      []doubt
	opaque      bool // the script may run any command, because a part of it was not understood
	strict      bool
	sideEffects bool // the script does more than run commands; for example, it writes a file or sets a variable
	defined     set  // functions defined by the script
	mentions    mentionIndex
	touched     []file
}

// A findings value collects the results while a script is read. It also holds the current position
// in the script.
type findings struct {
	results
	files fileUse

	outermost string       // the script that was passed to [Options.Read]
	at        *syntax.Stmt // current statement of the outermost script
	texts     int          // nesting depth of the script being read: 1 for the outermost script, more for a script such as the argument of sh -c
	body      *body        // function or trap body being read, if any
	owner     int          // index of the command whose arguments are being read, or -1
	settling  bool         // the whole script has been read, so new findings concern all of it
	tentative bool         // the commands being read might not run
	input     bool         // standard input comes from a pipe or from a redirection; the redirection belongs to an enclosing command, a function call or exec
	textInput bool         // standard input is a here document or a here string
}

// addDoubt records that the current part of the script was not fully understood, and which commands
// this affects. Under [Options.Strict], it affects all commands. Otherwise, a part that might not
// run does not affect all commands: addDoubt then replaces the reach all with mild.
func (f *findings) addDoubt(what string, reach reach) {
	switch {
	case f.strict:
		reach = all
	case f.tentative && reach == all:
		reach = mild // a command that might not run must not make the whole script opaque
	}
	if reach == all && f.opaque {
		return // the script is opaque already
	}
	f.opaque = f.opaque || reach == all
	d := doubt{what: what, reach: reach, owner: f.owner, before: len(f.commands), spoils: reach == all || reach == strict}
	if f.settling {
		d.before = 0
	}
	d.from, d.to = f.span()
	f.doubts = append(f.doubts, d)
}

// doubtAll records something that may run any command.
func (f *findings) doubtAll(what string) { f.addDoubt(what, all) }

// doubtStrict records a part of the script that could replace the programs that later commands run.
func (f *findings) doubtStrict(what string) { f.addDoubt(what, strict) }

// doubtMild records a part of the script that could run a program that the script does not name,
// such as a program in a file. It affects other commands only under [Options.Strict].
func (f *findings) doubtMild(what string) { f.addDoubt(what, mild) }

// doubtText records that a program may run any command named in args, which are not parsed. If the
// program's standard input may come from the script, for example through a pipe or a here document,
// the program may also run any command named in the script. If an argument is a process
// substitution, any command may run.
func (f *findings) doubtText(what string, args ...arg) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.pipe }) {
		f.doubtAll(what)
		return
	}
	f.addDoubt(what, inText)
	if f.strict {
		return
	}
	of := len(f.doubts) - 1
	f.mentions.add(args, of)
	if f.input || f.textInput {
		f.mentions.addText(f.outermost, of)
		f.mentions.addText(unquote.Replace(spaceEscapes.Replace(f.outermost)), of)
	}
}

// span returns the byte range of the current statement.
func (f *findings) span() (from, to int) {
	if f.at == nil {
		return 0, 0
	}
	from, to = int(f.at.Pos().Offset()), int(f.at.End().Offset()) //nolint:gosec // offsets fit in an int
	if from >= to || to > len(f.outermost) {
		return 0, 0
	}
	return from, to
}

// touch records a file that the script reads or writes.
func (f *findings) touch(access Access, at arg) {
	if at.kind == literal && (at.text == "" || at.text == "-" || strings.HasPrefix(at.text, "/dev/")) {
		return
	}
	one := file{access: access, path: at}
	one.from, one.to = f.span()
	f.touched = append(f.touched, one)
}

// doubtArithmetic records that bash evaluates unknown text as arithmetic. An array index in such
// text may run a command. If the script contains an array index with a command, doubtArithmetic
// calls [findings.doubtAll]; otherwise, it calls [findings.doubtStrict].
func (f *findings) doubtArithmetic(what string) {
	if hasCommandIndex(f.outermost) {
		f.doubtAll(what)
		return
	}
	f.doubtStrict(what)
}

// doubtArray records that bash expands a string a second time to get the elements of an array. If
// the script contains a command or process substitution, doubtArray calls [findings.doubtAll];
// otherwise, it calls [findings.doubtStrict].
func (f *findings) doubtArray(what string) {
	if strings.Contains(f.outermost, "$(") || strings.Contains(f.outermost, "`") || strings.Contains(f.outermost, "<(") {
		f.doubtAll(what)
		return
	}
	f.doubtStrict(what)
}

// doubtOptions records unknown options that precede a command. If any of args is not literal, it
// could be the command word, so any command may run.
func (f *findings) doubtOptions(what string, args []arg) {
	args = f.dropPending(args)
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal && !a.name }) {
		f.doubtAll("a command word that is not literal")
		return
	}
	f.doubtText(what, args...)
}

// setStatement makes s the current statement if it belongs to the outermost script.
func (f *findings) setStatement(s *syntax.Stmt) {
	if f.texts == 1 {
		f.at = s
	}
}

// readProgramInput records that an interpreter with the given arguments reads an unknown program
// from standard input.
func (f *findings) readProgramInput(args []arg) {
	if f.textInput && !f.input || !f.input && len(args) == 0 {
		f.doubtText("a program that is read from standard input", args...)
		return
	}
	f.doubtAll("a program that is read from standard input")
}

// readScriptFile records the program file named by an operand of a shell or an interpreter.
func (f *findings) readScriptFile(a arg) {
	switch {
	case a.pipe:
		f.doubtAll("a shell that reads commands from standard input")
	case a.text == "-", isDevice(a.text), f.strict && begins(strings.TrimLeft(a.text, "./"), "dev/ proc/"):
		f.doubtAll("a program that is read from standard input")
	case a.kind > single, a.kind == single && a.text == "" && !strings.Contains(a.tail, "/"):
		f.doubtMild("a program whose file is not literal")
	}
	f.files.programs.add(a.file())
}

// doubtForeign records a script in another shell's language, which is not parsed. The script is
// given by args or on standard input.
func (f *findings) doubtForeign(args []arg) {
	if len(args) == 0 && !f.textInput {
		f.doubtAll(foreignScript)
		return
	}
	f.doubtText(foreignScript, args...)
}

// A body describes the function body or trap action that is currently being read. A function body
// is read when the function is defined. It is read again at each call if it uses the function's
// arguments.
type body struct {
	definition    bool
	trap          bool // the body is a trap's action, not a function's body
	usesArguments bool // the body uses the function's arguments
	texts         int  // nesting depth of the script that contains the body
	begin         flow
	owner         int // index of the command that calls the function
}

// isPending reports whether a word consists of function arguments that are not known yet, because
// the function's definition is being read.
func (f *findings) isPending(a arg) bool {
	b := f.body
	if b == nil || !a.isArguments || !b.definition || b.texts != f.texts {
		return false
	}
	b.usesArguments = true
	return true
}

// dropPending returns args without pending words; see [findings.isPending]. Under [Options.Strict],
// it returns args unchanged.
func (f *findings) dropPending(args []arg) []arg {
	if f.strict || !slices.ContainsFunc(args, f.isPending) {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), f.isPending)
}

// foreignScript describes a script for a shell whose language is not parsed.
const foreignScript = "a script in another shell's language"

// codeDoubts contains the descriptions of unparsed programs in other languages. Such a program may
// use any file whose path appears in its text.
var codeDoubts = map[string]bool{"a program on the command line": true, "a program that is read from standard input": true, foreignScript: true}

// maxPaths is the maximum number of words from code in other languages that are examined as
// possible paths.
const maxPaths = 25_000

// A codePath is a possible file path in code written in another language, together with the index
// of the [doubt] about that code.
type codePath struct {
	path string
	of   int
}

// codePaths returns the possible file paths in code written in other languages, without duplicates.
// more reports whether words were left out because of maxPaths.
func (f *findings) codePaths() (all []codePath, more bool) {
	seen := set{}
	for _, m := range f.mentions.texts {
		if !codeDoubts[f.doubts[m.of].what] {
			continue
		}
		for word := range strings.FieldsFuncSeq(m.text, isBetweenPaths) {
			if seen[word] {
				continue
			}
			if len(all) == maxPaths {
				return all, true
			}
			seen.add(word)
			all = append(all, codePath{word, m.of})
		}
	}
	return all, false
}

// isBetweenPaths reports whether c cannot be part of a path.
func isBetweenPaths(c rune) bool { return c != '/' && c != '~' && c < utf8.RuneSelf && isBetween(c) }
