package shell

import "strings"

// Touches reports whether the script explicitly reads or writes a file that the pattern describes.
// It returns [Opaque] if only part of a path is known and the path may match.
func (r *Reading) Touches(p FilePattern) (Outcome, Doubt) {
	found, by := NoMatch, 0
	for i := range r.touched {
		if f := &r.touched[i]; f.access == p.access {
			if o := p.matchesArg(f.path); o.or(found) != found {
				found, by = o.or(found), i
			}
		}
	}
	if found == NoMatch {
		return r.namedInCode(&p)
	}
	if found == Match {
		return Match, Doubt{}
	}
	f := &r.touched[by]
	const what = "a file whose name is not literal"
	return Opaque, Doubt{What: what, Code: r.code(f.from, f.to), At: r.character(f.from), Advice: advice(what)}
}

// namedInCode searches code in other languages for the names of files that the pattern p describes.
// It returns Opaque if it finds such a name, or if there is too much code to search all of it;
// otherwise, it returns NoMatch. It ignores patterns that describe all files.
func (r *Reading) namedInCode(p *FilePattern) (Outcome, Doubt) {
	if strings.Trim(p.glob, "*") == "" {
		return NoMatch, Doubt{}
	}
	for _, c := range r.codePaths {
		if p.matches(c.path) {
			return Opaque, r.inCode(c.of, "that names "+c.path)
		}
	}
	if r.moreCode {
		return Opaque, r.inCode(r.codePaths[0].of, "with very many words")
	}
	return NoMatch, Doubt{}
}

// inCode returns a [Doubt] about code in another language that may use a file. r.doubts[of]
// describes the code. inCode adds the text to this description and replaces the advice.
func (r *Reading) inCode(of int, text string) Doubt {
	d := r.exported(&r.doubts[of])
	d.What += " " + text
	d.Advice = "use the file in a separate command, such as cat"
	return d
}
