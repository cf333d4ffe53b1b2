package shell

import "strings"

// awk reads the program of awk, which can run commands.
func (r *reader) awk(args []arg) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.kind == literal && (a.text == "--" || a.text == "-"):
			continue
		case a.kind == literal && (a.text == "-F" || a.text == "-v"):
			i++
			if a.text == "-F" || i >= len(args) || args[i].kind <= single {
				continue
			}
			r.unsure("a program that is not literal")
			return
		case a.kind <= single && (strings.HasPrefix(a.text, "-F") || strings.HasPrefix(a.text, "-v")):
			continue
		case a.kind == literal && a.text == "-f":
			if i+1 < len(args) {
				r.scriptFile(args[i+1])
			}
			return
		case a.kind == literal && strings.HasPrefix(a.text, "-"):
			if a.text != "--version" && a.text != "--help" {
				r.unsure("awk with options that are not known")
			}
			return
		default:
			r.awkProgram(a)
			return
		}
	}
}

// awkProgram looks for what can run a command: system(), pipes, and what gawk
// loads or calls by a name.
func (r *reader) awkProgram(a arg) {
	text := strings.ReplaceAll(a.text, "||", "")
	if a.kind != literal || strings.ContainsAny(text, "|@") || strings.Contains(text, "system") {
		r.unsure("a program on the command line")
	}
}

// sed reads the scripts of sed, which can run commands with e.
func (r *reader) sed(args []arg) {
	var scripts, operands []arg
	given := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, with := strings.Cut(a.text, "=")
		switch {
		case a.kind == anything:
			operands = append(operands, a)
		case a.text == "-f" || name == "--file":
			given = true
			switch {
			case with:
				r.scriptFile(arg{kind: a.kind, text: value, tail: a.tail})
			case i+1 < len(args):
				i++
				r.scriptFile(args[i])
			}
		case a.text == "--expression" || isScriptOption(a):
			given = true
			if i++; i < len(args) {
				scripts = append(scripts, args[i])
			}
		case name == "--expression":
			given = true
			scripts = append(scripts, arg{kind: a.kind, text: value, tail: a.tail})
		case strings.HasPrefix(a.text, "-") && (a.kind != literal || !isSedFlag(a.text)):
			r.unsure("sed with options that are not known")
			return
		case !strings.HasPrefix(a.text, "-"):
			operands = append(operands, a)
		}
	}
	if !given && len(operands) > 0 {
		scripts = operands[:1]
	}
	for _, s := range scripts {
		if s.kind != literal || !sedIsHarmless(s.text) {
			r.unsure("a script of sed that is not known")
		}
	}
}

// isScriptOption reports whether an argument is -e, perhaps behind other letters.
func isScriptOption(a arg) bool {
	return a.kind == literal && len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' &&
		strings.HasSuffix(a.text, "e") && strings.Trim(a.text[1:len(a.text)-1], "nErsuz") == ""
}

// isSedFlag reports whether an option of sed takes no script.
func isSedFlag(s string) bool {
	switch s {
	case "--quiet", "--silent", "--regexp-extended", "--separate", "--unbuffered", "--null-data", "--in-place", "--posix", "--sandbox", "--debug", "--version", "--help":
		return true
	}
	if suffix, ok := strings.CutPrefix(s, "-i"); ok {
		return !strings.Contains(suffix, "e")
	}
	return strings.HasPrefix(s, "--in-place=") || strings.Trim(s[1:], "nErsuzi") == ""
}

// sedIsHarmless reports whether a script of sed has none but commands that
// print, delete and substitute.
func sedIsHarmless(s string) bool {
	p := sedParser{s: s}
	for p.more() {
		if !p.command() {
			return false
		}
	}
	return true
}

// A sedParser reads a script of sed.
type sedParser struct{ s string }

// more skips what stands between commands and reports whether one follows.
func (p *sedParser) more() bool {
	p.s = strings.TrimLeft(p.s, " \t\n;}")
	return p.s != ""
}

// command reads an address and a command, and reports whether it is harmless.
func (p *sedParser) command() bool {
	if !p.address() {
		return false
	}
	p.s = strings.TrimLeft(p.s, " \t!")
	if p.s == "" {
		return false
	}
	c := p.s[0]
	p.s = p.s[1:]
	switch c {
	case 'p', 'd', 'D', 'P', 'n', 'N', 'h', 'H', 'g', 'G', 'x', 'l', '=', '{', 'q', 'Q', 'z':
		return p.ends(c)
	case 's':
		return p.substitute("gpiIm0123456789")
	case 'y':
		return p.substitute("")
	case 'a', 'i', 'c':
		_, p.s, _ = strings.Cut(p.s, "\n")
		return !strings.HasSuffix(p.s, `\`)
	}
	return false
}

// ends reports whether a command of one letter ends here.
func (p *sedParser) ends(c byte) bool {
	if c == 'q' || c == 'Q' {
		p.s = strings.TrimLeft(p.s, "0123456789 ")
	}
	return c == '{' || p.s == "" || strings.IndexByte(" \t\n;}", p.s[0]) >= 0
}

// substitute reads /a/b/flags, of s and y.
func (p *sedParser) substitute(flags string) bool {
	if p.s == "" || p.s[0] == '\\' || p.s[0] == '\n' {
		return false
	}
	end := p.s[0]
	p.s = p.s[1:]
	for range 2 {
		if !p.until(end) {
			return false
		}
	}
	p.s = strings.TrimLeft(p.s, flags)
	return p.ends('s')
}

// until drops text up to the delimiter, which may stand in brackets or behind a backslash.
func (p *sedParser) until(end byte) bool {
	for i := 0; i < len(p.s); i++ {
		switch p.s[i] {
		case '\\':
			i++
		case '[':
			// Versions differ over the delimiter in brackets.
			if j := strings.IndexByte(p.s[i:], ']'); j >= 0 && strings.IndexByte(p.s[i:i+j], end) >= 0 {
				return false
			}
		case end:
			p.s = p.s[i+1:]
			return true
		}
	}
	return false
}

// address reads the lines that a command is for, such as 1,$ or /re/,+3.
func (p *sedParser) address() bool {
	for {
		p.s = strings.TrimLeft(p.s, "0123456789$,~+ ")
		if !strings.HasPrefix(p.s, "/") {
			return !strings.HasPrefix(p.s, `\`)
		}
		p.s = p.s[1:]
		if !p.until('/') {
			return false
		}
		p.s = strings.TrimLeft(p.s, "IM")
	}
}
