package shell

import (
	"path"
	"slices"
	"strings"
)

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

// A filer describes the files among the arguments of a program. Lists of options are divided by spaces.
type filer struct {
	skip    int    // how many operands come before the files: a pattern, a script
	reads   bool   // the operands
	writes  bool   // the operands
	last    bool   // the last operand is written, those before it are read
	moves   bool   // as last, and the operands before it are removed
	remote  bool   // operands with a colon are at another machine
	takes   string // options whose value does not name a file
	where   string // options that name the working folder
	script  string // with one of these options no operand is skipped
	writing string // it writes only with one of these options, and reads otherwise
	instead bool   // with such an option it rewrites its operands, as sed -i does
	valued  string // options whose value is a file that is written
	sources string // options whose value is a file that is read
	behind  string // options whose value has @ or < in front of a file that is read
	words   bool   // one dash begins a word, and not letters
	some    string // with these arguments it writes files that they do not name, see [parsed]
	dry     string // options that keep it from writing
	rewrite string // with these first operands it writes the others too, if it changes files at all
	shows   string // with these first operands it reads the others, behind a colon as well
	rows    []someFiles
}

// read notes the files of a command.
func (f *filer) read(r *reader, args []arg) {
	operands, options, elsewhere := f.split(r, args)
	if !elsewhere && f.changesSome(operands, options) {
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
	if f.script != "" && slices.ContainsFunc(options, func(a arg) bool { return a.says(f.script) != "" }) {
		// the pattern or script is the value of an option
	} else {
		operands = operands[min(f.skip, len(operands)):]
	}
	f.use(r, operands, options)
}

// isRemote reports whether an operand is a file of another machine, as host:x.
func isRemote(a arg) bool {
	before, _, ok := strings.Cut(a.text, ":")
	return ok && !strings.Contains(before, "/")
}

// use notes the operands as files that are read or written.
func (f *filer) use(r *reader, operands, options []arg) {
	says := func(words string) bool {
		return words != "" && slices.ContainsFunc(options, func(a arg) bool { return a.says(words) != "" })
	}
	writing := says(f.writing)
	last := f.last && len(operands) > 1 && !says(f.dry)
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
			r.touch(Writes, into(to, a))
		}
	}
	if writing && len(operands) == 0 {
		r.touch(Writes, arg{kind: anything})
	}
}

// into returns the new path of a file in a folder, if the folder ends with a slash.
func into(folder, file arg) arg {
	if folder.kind != literal || file.kind != literal || !strings.HasSuffix(folder.text, "/") {
		return arg{}
	}
	return arg{text: folder.text + path.Base(file.text)}
}

// changesSome reports whether the command writes files that it does not name.
func (f *filer) changesSome(operands, options []arg) bool {
	if len(operands) > 0 && strings.HasPrefix(operands[0].text, "+") {
		operands = operands[1:] // cargo +nightly fmt
	}
	return slices.ContainsFunc(f.rows, func(row someFiles) bool { return row.describes(operands, options) })
}

// someFiles are the arguments that make a command write files it does not name.
type someFiles struct {
	subs    []string // its first operands
	needs   int      // how many further operands it needs
	alone   bool     // it must not have other operands
	options string   // it has one of these, if any
	without string   // it must not have any of these, as options or operands
}

func (row *someFiles) describes(operands, options []arg) bool {
	rest := len(operands) - len(row.subs)
	if !startsWith(operands, row.subs) || rest < row.needs || row.alone && rest > 0 {
		return false
	}
	has := func(words string, among []arg) bool {
		return words != "" && slices.ContainsFunc(among, func(a arg) bool { return a.says(words) != "" })
	}
	if has(row.without, options) || slices.ContainsFunc(operands, func(a arg) bool { return hasWord(row.without, a.text) }) {
		return false
	}
	return row.options == "" || has(row.options, options)
}

// parsed returns the table with the rows of some. A row has words that are the first operands, + for one more
// operand, = for no other, options (one of them has to be there), and behind ! options that must be missing.
func parsed(table map[string]filer) map[string]filer {
	for name, f := range table {
		for text := range strings.SplitSeq(f.some, ",") {
			if text == "" {
				continue
			}
			var row someFiles
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

// hasWord reports whether a list has the word.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// split divides the arguments, and notes the files that are values of options. Elsewhere reports that the command
// works in a folder for temporary files.
func (f *filer) split(r *reader, args []arg) (operands, options []arg, elsewhere bool) {
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, with := a.cut()
		switch {
		case !ended && a.kind == literal && a.text == "--":
			ended = true
		case !ended && isOption(a.text):
			options = append(options, a)
			if !with && !f.known(name) && !f.words && isCluster(name) {
				name, value, with = f.letters(a)
				options[len(options)-1].text = strings.TrimSuffix(a.text, value.text) // without the value, as POST of -XPOST
			}
			if !f.known(name) {
				continue
			}
			if !with {
				if i++; i == len(args) {
					return operands, options, elsewhere
				}
				value = args[i]
			}
			elsewhere = f.value(r, name, value) || elsewhere
		case with && (name == "of" || name == "if"):
			r.touch(map[string]Access{"of": Writes, "if": Reads}[name], value)
		default:
			operands = append(operands, a)
		}
	}
	return operands, options, elsewhere
}

// known reports whether an option takes a value.
func (f *filer) known(name string) bool {
	for _, list := range [...]string{f.takes, f.where, f.valued, f.sources, f.behind} {
		if hasWord(list, name) {
			return true
		}
	}
	return false
}

// letters finds the option that takes a value among the letters of an argument, and its value if attached.
func (f *filer) letters(a arg) (name string, value arg, with bool) {
	for i := 1; i < len(a.text); i++ {
		if name = "-" + a.text[i:i+1]; f.known(name) {
			value = a
			value.text = a.text[i+1:]
			return name, value, value.text != "" || a.kind != literal
		}
	}
	return a.text, arg{}, false
}

// value notes the file that the value of an option names. It reports whether the command works in that folder and
// the folder is for temporary files.
func (f *filer) value(r *reader, name string, value arg) (elsewhere bool) {
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
