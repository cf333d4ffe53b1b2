package shell

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// An Access is a way to use a file.
type Access uint8

// The accesses.
const (
	Reads Access = iota
	Writes
)

// String returns "reads" or "writes".
func (a Access) String() string { return [...]string{"reads", "writes"}[a] }

// A file is one that a script openly reads or writes. Where its path is anything, that is some
// file, which the script does not name.
type file struct {
	access   Access
	path     arg
	from, to int
}

// A FilePattern is a glob over the paths of files, for [Reading.Touches]. It is made by
// [CompileFiles].
type FilePattern struct {
	access Access
	glob   string
}

// CompileFiles makes a pattern of files that a script reads or writes. A glob without a slash is
// held against the name of the file, others against the path, or its end; * is any text.
func CompileFiles(access Access, glob string) (FilePattern, error) {
	switch {
	case glob == "":
		return FilePattern{}, errors.New("a pattern of files must not be empty")
	case strings.ContainsAny(glob, "[]{}?"):
		return FilePattern{}, errors.New("only * stands for other text in a pattern of files")
	}
	return FilePattern{access, strings.ReplaceAll(strings.TrimPrefix(glob, "./"), "**/", "*")}, nil
}

// Touches says whether the script openly reads, or writes, a file that the pattern describes.
// [Opaque] is a path of which only a part is known, that may be one.
func (r *Reading) Touches(p FilePattern) (Outcome, Doubt) {
	found, by := NoMatch, 0
	for i := range r.files {
		if f := &r.files[i]; f.access == p.access {
			if o := p.is(f.path); o.or(found) != found {
				found, by = o.or(found), i
			}
		}
	}
	if found == NoMatch {
		return r.named(&p)
	}
	if found == Match {
		return Match, Doubt{}
	}
	f := &r.files[by]
	const what = "a file whose name is not literal"
	return Opaque, Doubt{What: what, Code: r.code(f.from, f.to), At: r.character(f.from), Advice: advice(what)}
}

// is says whether a path is that of such a file.
func (p *FilePattern) is(at arg) Outcome {
	any := strings.Trim(p.glob, "*") == ""
	switch {
	case at.kind == literal && p.matches(at.text), at.kind != literal && any:
		return Match
	case at.kind == literal:
		return NoMatch
	}
	text, tail := at.text[strings.LastIndexByte(at.text, '/')+1:], at.tail
	if i := strings.LastIndexByte(tail, '/'); i >= 0 {
		if strings.Contains(p.glob, "/") {
			return NoMatch
		}
		if p.matches(tail[i+1:]) {
			return Match
		}
		return NoMatch
	}
	if text+tail == "" || strings.Contains(p.glob, "/") {
		return NoMatch
	}
	before, _, _ := strings.Cut(p.glob, "*")
	after := p.glob[strings.LastIndexByte(p.glob, '*')+1:]
	if compatible(before, text, strings.HasPrefix) && compatible(after, tail, strings.HasSuffix) {
		return Opaque
	}
	return NoMatch
}

// compatible reports whether one of two texts begins, or ends, with the other.
func compatible(a, b string, has func(string, string) bool) bool { return has(a, b) || has(b, a) }

// outputs are the extensions of files with the output of commands.
var outputs = setOf(".log .out .err .tmp .pid")

// matches reports whether a path is that of such a file.
func (p *FilePattern) matches(at string) bool {
	clean := path.Clean(at)
	if strings.HasPrefix(p.glob, "/") || strings.HasPrefix(p.glob, "~") {
		return matchStar(p.glob, clean)
	}
	if p.access == Writes && (begins(clean, "/tmp/ /var/tmp/ /private/tmp/ /dev/") || strings.Trim(p.glob, "*") == "" && outputs[path.Ext(clean)]) {
		return false // beside the files that the work is about
	}
	if !strings.Contains(p.glob, "/") {
		return matchStar(p.glob, path.Base(clean))
	}
	for {
		if matchStar(p.glob, clean) {
			return true
		}
		_, rest, ok := strings.Cut(clean, "/")
		if !ok {
			return false
		}
		clean = rest
	}
}

// touch notes a file that the script reads or writes.
func (r *reader) touch(access Access, at arg) {
	if at.kind == literal && (at.text == "" || at.text == "-" || strings.HasPrefix(at.text, "/dev/")) {
		return
	}
	f := file{access: access, path: at}
	f.from, f.to = r.span()
	r.touched = append(r.touched, f)
}

// readFiles notes the files that a command names, by the tables.
func readFiles(r *reader, name string, args []arg) {
	if r.loose {
		return
	}
	if f, ok := fileTable[name]; ok {
		f.read(r, args)
		return
	}
	if r.commands[r.owner].stranger && r.commands[r.owner].by < 0 {
		for _, a := range args {
			_, value, with := a.cut()
			if !with {
				value = a
			}
			value.text = strings.TrimPrefix(value.text, "@")
			r.touch(Reads, value)
		}
	}
}

// A filer describes the files among the arguments of a program.
type filer struct {
	skip    int    // how many operands come before the files: a pattern, a script
	reads   bool   // the operands
	writes  bool   // the operands
	last    bool   // the last operand is written, those before it are read
	takes   string // options whose value is something else than a file, as in [program]
	script  string // with one of these options no operand is skipped
	writing string // it writes with one of these options alone, and reads else
	instead bool   // with such an option it rewrites its operands, as sed -i does
	valued  string // options whose value is a file that is written
	sources string // options whose value is a file that is read
	some    string // with these first operands it writes files that are not named; "*": always
	needs   int    // how many operands must follow those, for that
	with    string // an option that must be there, for that
	rows    []someFiles
}

// read notes the files of a command.
func (f *filer) read(r *reader, args []arg) {
	operands, options := f.split(r, args)
	if f.changesSome(operands, options) {
		r.touch(Writes, arg{kind: anything})
	}
	if f.script != "" && slices.ContainsFunc(options, func(a arg) bool { return a.says(f.script) != "" }) {
		// the pattern or script is the value of an option
	} else {
		operands = operands[min(f.skip, len(operands)):]
	}
	writing := f.writing != "" && slices.ContainsFunc(options, func(a arg) bool { return a.says(f.writing) != "" })
	for i, a := range operands {
		switch {
		case f.last && i == len(operands)-1 && i > 0:
			r.touch(Writes, a)
		case f.writes, writing && f.instead:
			r.touch(Writes, a)
		case f.reads, f.last:
			r.touch(Reads, a)
		}
		if writing && !f.instead {
			r.touch(Writes, a)
		}
	}
	if writing && len(operands) == 0 {
		r.touch(Writes, arg{kind: anything})
	}
}

// changesSome reports whether the command writes files that it does not name.
func (f *filer) changesSome(operands, options []arg) bool {
	if f.some == "" {
		return false
	}
	if f.some == "*" {
		return len(operands) >= f.needs && (f.with == "" || slices.ContainsFunc(options, func(a arg) bool { return a.says(f.with) != "" }))
	}
	return slices.ContainsFunc(f.rows, func(row someFiles) bool {
		return startsWith(operands, row.subs) && len(operands) >= len(row.subs)+row.needs &&
			(row.option == "" || slices.ContainsFunc(options, func(a arg) bool { return a.says(row.option) != "" }))
	})
}

// someFiles are the words of a command that writes files without naming them.
type someFiles struct {
	subs   []string // its first operands
	needs  int      // how many more there have to be
	option string
}

// parsed returns the table with the words of its rows divided.
func parsed(table map[string]filer) map[string]filer {
	for name, f := range table {
		for text := range strings.SplitSeq(f.some, ",") {
			var row someFiles
			for w := range strings.FieldsSeq(text) {
				switch {
				case strings.HasPrefix(w, "-"):
					row.option = w
				case w == "+":
					row.needs++
				default:
					row.subs = append(row.subs, w)
				}
			}
			if len(row.subs) > 0 {
				f.rows = append(f.rows, row)
			}
		}
		table[name] = f
	}
	return table
}

// hasWord reports whether a list has the word.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// split divides the arguments, and notes the files that are values of options.
func (f *filer) split(r *reader, args []arg) (operands, options []arg) {
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, with := a.cut()
		switch {
		case !ended && a.kind == literal && a.text == "--":
			ended = true
		case !ended && a.kind == literal && isOption(a.text):
			options = append(options, a)
			takes := func(list string) bool { return hasWord(list, name) }
			if !with && i+1 < len(args) {
				value = args[i+1]
			}
			switch {
			case takes(f.valued):
				r.touch(Writes, value)
			case takes(f.sources):
				value.text = strings.TrimPrefix(value.text, "@")
				r.touch(Reads, value)
			case !takes(f.takes):
				continue
			}
			i += toInt(!with)
		case with && (name == "of" || name == "if"):
			r.touch(map[string]Access{"of": Writes, "if": Reads}[name], value)
		default:
			operands = append(operands, a)
		}
	}
	return operands, options
}
