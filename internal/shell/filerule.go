package shell

import (
	"path"
	"slices"
	"strings"
)

// A fileRule describes which arguments of a program are files. Options in a list are separated by
// spaces.
type fileRule struct {
	skip    int    // number of operands before the first file, for example 1 if the first operand is a pattern
	reads   bool   // the program reads the files named by the operands
	writes  bool   // the program writes the files named by the operands
	last    bool   // the program writes the file named by the last operand and reads the others
	moves   bool   // the program moves all operands but the last to the file or directory named by the last operand
	remote  bool   // an operand that contains a colon names a file on another machine
	takes   string // options whose value is not a file
	where   string // options that name the working directory
	script  string // options, such as -e of sed, that supply the pattern or script; if one is given, even the first operand is a file
	writing string // options that make the program write the files named by its operands
	instead bool   // if the command has an option listed in writing, such as -i of sed, the files named by its operands count as written but not as read
	valued  string // options whose value is a file to write
	sources string // options whose value is a file to read
	behind  string // options whose value may contain @ or <, followed by the name of a file to read
	words   bool   // a single dash introduces a whole option name, not a group of letters
	unnamed string // comma-separated descriptions of the commands that write files not named by any argument; see [withRows]
	dry     string // options that request a dry run
	rewrite string // subcommands, such as rm in git rm, whose operands name files to write; used only if unnamed describes the command
	shows   string // subcommands, such as show in git show, whose operands name files to read, with or without a prefix such as HEAD:
	rows    []unnamedWrite
}

// read interprets args and records the files named in them.
func (f *fileRule) read(r *findings, args []arg) {
	operands, options, elsewhere := f.split(r, args)
	if !elsewhere && f.writesUnnamed(operands, options) {
		r.touch(Writes, arg{kind: anything})
		if len(operands) > 1 && hasWord(f.rewrite, operands[0].text) {
			for _, a := range operands[1:] {
				r.touch(Writes, a)
			}
		}
	}
	if len(operands) > 1 && hasWord(f.shows, operands[0].text) {
		for _, a := range operands[1:] {
			a.text = a.text[strings.LastIndexByte(a.text, ':')+1:]
			r.touch(Reads, a)
		}
	}
	if !matchesAny(options, f.script) { // without such an option, the first operand is the pattern or script
		operands = operands[min(f.skip, len(operands)):]
	}
	f.use(r, operands, options)
}

// isRemote reports whether the argument names a file on another machine, such as host:x.
func isRemote(a arg) bool {
	before, _, ok := strings.Cut(a.text, ":")
	return ok && !strings.Contains(before, "/")
}

// use records which of the files named by the operands the program reads, and which it writes.
func (f *fileRule) use(r *findings, operands, options []arg) {
	writing := matchesAny(options, f.writing)
	last := f.last && len(operands) > 1 && !matchesAny(options, f.dry)
	for i, a := range operands {
		switch {
		case f.remote && isRemote(a):
			continue
		case last && i == len(operands)-1:
			r.touch(Writes, a)
		case f.writes, writing && f.instead:
			r.touch(Writes, a)
		case f.reads, f.last:
			r.touch(Reads, a)
		}
		if writing && !f.instead || last && f.moves && i < len(operands)-1 {
			r.touch(Writes, a)
		}
		if to := operands[len(operands)-1]; last && i < len(operands)-1 && !(f.remote && isRemote(to)) {
			r.touch(Writes, movedPath(to, a))
		}
	}
	if writing && len(operands) == 0 {
		r.touch(Writes, arg{kind: anything})
	}
}

// movedPath returns the new path of the given file after a move to folder. The result is empty
// unless both names are literal and folder ends with a slash.
func movedPath(folder, file arg) arg {
	if folder.kind != literal || file.kind != literal || !strings.HasSuffix(folder.text, "/") {
		return arg{}
	}
	return arg{text: folder.text + path.Base(file.text)}
}

// writesUnnamed reports whether the command writes files not named by any argument.
func (f *fileRule) writesUnnamed(operands, options []arg) bool {
	if len(operands) > 0 && strings.HasPrefix(operands[0].text, "+") {
		operands = operands[1:] // skip the toolchain, as in cargo +nightly fmt
	}
	return slices.ContainsFunc(f.rows, func(row unnamedWrite) bool { return row.describes(operands, options) })
}

// An unnamedWrite describes commands of a program that write files not named by any argument.
type unnamedWrite struct {
	subs    []string // operands at the start of the command, such as a subcommand
	needs   int      // minimum number of operands after subs
	alone   bool     // whether operands after subs are forbidden
	options string   // if not empty, the command must have one of these options
	without string   // the command must have none of these options or operands
}

func (row *unnamedWrite) describes(operands, options []arg) bool {
	rest := len(operands) - len(row.subs)
	if !startsWith(operands, row.subs) || rest < row.needs || row.alone && rest > 0 {
		return false
	}
	if matchesAny(options, row.without) || slices.ContainsFunc(operands, func(a arg) bool { return hasWord(row.without, a.text) }) {
		return false
	}
	return row.options == "" || matchesAny(options, row.options)
}

// withRows parses the unnamed field of each entry into the rows field, and returns the table. The
// unnamed field contains comma-separated rows. Each row describes commands that write files not
// named by any argument. Words such as "install" are the first operands of such a command. Each +
// stands for another operand that the command must have, and = means that no other operands are
// allowed. If the row contains options, the command must have at least one of them. An exclamation
// mark precedes an option or operand that the command must not have. The word * is ignored.
func withRows(table map[string]fileRule) map[string]fileRule {
	for name, f := range table {
		for text := range strings.SplitSeq(f.unnamed, ",") {
			if text == "" {
				continue
			}
			var row unnamedWrite
			for w := range strings.FieldsSeq(text) {
				switch {
				case w == "+":
					row.needs++
				case w == "=":
					row.alone = true
				case w == "*":
				case w[0] == '!':
					row.without += " " + w[1:]
				case w[0] == '-':
					row.options += " " + w
				default:
					row.subs = append(row.subs, w)
				}
			}
			f.rows = append(f.rows, row)
		}
		table[name] = f
	}
	return table
}

// split separates operands from options. It records the files named by the values of options, and
// by operands such as of=x. It also reports whether an option makes the program work in a directory
// for temporary files.
func (f *fileRule) split(r *findings, args []arg) (operands, options []arg, elsewhere bool) {
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, with := a.cut()
		switch {
		case !ended && a.kind == literal && a.text == "--":
			ended = true
		case !ended && isOption(a.text):
			options = append(options, a)
			if !with && !f.takesValue(name) && !f.words && isCluster(name) {
				name, value, with = f.findValueLetter(a)
				options[len(options)-1].text = strings.TrimSuffix(a.text, value.text) // drop the value, for example POST in -XPOST
			}
			if !f.takesValue(name) {
				continue
			}
			if !with {
				if i++; i == len(args) {
					return operands, options, elsewhere
				}
				value = args[i]
			}
			elsewhere = f.readValue(r, name, value) || elsewhere
		case with && (name == "of" || name == "if"):
			r.touch(map[string]Access{"of": Writes, "if": Reads}[name], value)
		default:
			operands = append(operands, a)
		}
	}
	return operands, options, elsewhere
}

// takesValue reports whether the rule lists the option with the given name as one that takes a
// value.
func (f *fileRule) takesValue(name string) bool {
	lists := []string{f.takes, f.where, f.valued, f.sources, f.behind}
	return slices.ContainsFunc(lists, func(list string) bool { return hasWord(list, name) })
}

// findValueLetter looks in a group of option letters, such as -xzf, for the first option that takes
// a value, here -f. It returns this option and the text after its letter, and reports whether that
// text is the value. If nothing follows the letter, the value is the next argument instead. If no
// option takes a value, findValueLetter returns the whole group as the name.
func (f *fileRule) findValueLetter(a arg) (name string, value arg, with bool) {
	for i := 1; i < len(a.text); i++ {
		if name = "-" + a.text[i:i+1]; f.takesValue(name) {
			value = a
			value.text = a.text[i+1:]
			return name, value, value.text != "" || a.kind != literal
		}
	}
	return a.text, arg{}, false
}

// readValue interprets the value of an option. If the value names a file, readValue records the
// file. It reports whether the option makes the program work in a directory for temporary files.
func (f *fileRule) readValue(r *findings, name string, value arg) (elsewhere bool) {
	switch {
	case hasWord(f.valued, name):
		r.touch(Writes, value)
	case hasWord(f.sources, name):
		value.text = strings.TrimPrefix(value.text, "@")
		r.touch(Reads, value)
	case hasWord(f.behind, name):
		if i := strings.IndexAny(value.text, "@<"); i >= 0 {
			value.text, _, _ = strings.Cut(value.text[i+1:], ";")
			r.touch(Reads, value)
		}
	case hasWord(f.where, name):
		return value.kind == literal && isTemporary(path.Clean(value.text))
	}
	return false
}
