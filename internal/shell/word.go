package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An expander expands the words of a script. It also reads the commands and the arithmetic in them.
type expander struct {
	scope
	source    string // text of the innermost script
	depth     int    // nesting depth of the current node
	argCount  int    // number of arguments of all commands together; see maxArgs
	posix     bool   // whether the current shell is one other than bash, which may read bash syntax differently
	expanding bool   // whether the reader is within a ${...} in double quotes, where all quotes have already been checked
}

// enter descends by one level of nodes. It returns false if that would exceed the maximum depth;
// otherwise, the caller must call leave afterwards.
func (r *expander) enter() bool {
	if r.depth >= maxDepth {
		r.doubtAll("too deeply nested")
		return false
	}
	r.depth++
	return true
}

func (r *expander) leave() { r.depth-- }

// doubtPosix is called for bash syntax. If the current shell is not bash, doubtPosix records that
// any command may run, because the shell may read this syntax differently; see [doubt].
func (r *expander) doubtPosix() {
	if r.posix {
		r.doubtAll("bash syntax in another shell")
	}
}

// maxBraces is the maximum number of words that a brace expansion can yield.
const maxBraces = 64

// words expands the words of a command.
func (r *expander) words(words []*syntax.Word) []arg {
	args := make([]arg, 0, len(words))
	for _, w := range words {
		args = r.expand(args, w)
	}
	return args
}

// expand appends the expansion of the word w to args.
func (r *expander) expand(args []arg, w *syntax.Word) []arg {
	if hasBraces(w) {
		return r.expandBraces(args, w)
	}
	if list, ok := r.vars.elements(w); ok {
		if r.argCount += len(list); r.argCount <= maxArgs {
			return append(args, list...)
		}
	}
	a := r.word(w)
	a.isArguments = isGiven(w)
	return append(args, a)
}

// hasBraces reports whether bash may expand braces in the word w.
func hasBraces(w *syntax.Word) bool {
	open, between := false, false
	for _, part := range w.Parts {
		if l, ok := part.(*syntax.Lit); ok {
			open = open || strings.Contains(l.Value, "{")
			between = between || strings.Contains(l.Value, ",") || strings.Contains(l.Value, "..")
		}
	}
	return open && between
}

// expandBraces expands braces in the plain form a{b,c}d. The expansion of any other form is
// unknown.
func (r *expander) expandBraces(args []arg, w *syntax.Word) []arg {
	if l, ok := w.Parts[0].(*syntax.Lit); ok && len(w.Parts) == 1 {
		before, rest, _ := strings.Cut(l.Value, "{")
		list, after, closed := strings.Cut(rest, "}")
		elems := strings.Split(list, ",")
		if closed && len(elems) > 1 && len(elems) <= maxBraces && !strings.ContainsAny(before+list+after, "{}\\") && !strings.Contains(list, "..") {
			for _, e := range elems {
				if text := before + e + after; text != "" {
					args = append(args, r.word(&syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}))
				}
			}
			return args
		}
	}
	r.word(w) // the result is ignored, but the commands in the word must be read
	return append(args, arg{kind: anything})
}

// word expands w, which must not contain braces. If w is nil, the result is the empty literal.
func (r *expander) word(w *syntax.Word) arg {
	if w == nil {
		return arg{}
	}
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, "\\*?[~") {
			return arg{text: l.Value}
		}
	}
	var b wordBuilder
	b.parts(r, w.Parts, false)
	if l, ok := w.Parts[0].(*syntax.Lit); ok && len(w.Parts) == 1 && l.Value == "[" {
		return arg{text: "["} // here, [ is the name of a command, not the start of a glob
	}
	return b.arg()
}

// A wordBuilder assembles an argument from the parts of a word.
type wordBuilder struct {
	kind  argKind
	name  bool
	glob  bool
	setUp bool
	pipe  bool
	split bool
	text  []byte // the known parts of the word, concatenated
	head  int    // length of the text before the first unknown part
	tail  int    // index in the field text; the part after the last unknown part begins there
}

// arg returns the assembled argument.
func (b *wordBuilder) arg() arg {
	if b.kind == literal {
		return arg{text: string(b.text)}
	}
	return arg{kind: b.kind, text: string(b.text[:b.head]), mid: string(b.text[b.head:b.tail]), tail: string(b.text[b.tail:]), name: b.name, glob: b.glob, setUp: b.setUp && len(b.text) == 0, pipe: b.pipe, split: b.split}
}

// dynamic adds a part whose expansion is unknown. The kind tells how many words the part may expand
// to.
func (b *wordBuilder) dynamic(k argKind) {
	if b.kind == literal {
		b.head = len(b.text)
	}
	b.kind = max(b.kind, k)
	b.tail = len(b.text)
}

// unquoted adds an unquoted expansion, which the shell splits.
func (b *wordBuilder) unquoted(r *expander) {
	b.split = !r.strict && (b.kind < spread || b.split)
	b.dynamic(anything)
}

// parts adds the parts of a word. If quoted is true, they are in double quotes.
func (b *wordBuilder) parts(r *expander, parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		if isZsh(parts[i:]) {
			r.doubtAll("an expansion that bash does not know")
		}
		b.part(r, part, quoted, i == 0)
	}
}

// part adds a part of a word. If quoted is true, the part is in double quotes. If first is true, it
// is the first part of the word.
func (b *wordBuilder) part(r *expander, part syntax.WordPart, quoted, first bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			b.text = appendQuoted(b.text, p.Value)
		} else {
			b.lit(p.Value, first)
		}
	case *syntax.SglQuoted:
		b.single(r, p)
	case *syntax.DblQuoted:
		b.double(r, p)
	case *syntax.ParamExp:
		kind := r.param(p, quoted)
		if value, ok := r.vars.valueOf(p, quoted); ok {
			b.known(value)
			return
		}
		if kind == anything && !quoted && !isList(p) {
			b.unquoted(r)
		}
		b.dynamic(kind)
	case *syntax.CmdSubst:
		r.nested.substitution(p.Stmts, false)
		if b.kind == literal && calls(p.Stmts, nameCommands) {
			b.name = true
			quoted = true
		}
		b.setUp = len(b.text) == 0 && b.kind == literal && calls(p.Stmts, settingPrograms)
		if !quoted {
			b.unquoted(r)
		}
		b.dynamic(words(quoted))
	case *syntax.ArithmExp:
		r.arithm(p.X)
		b.dynamic(single)
	case *syntax.ProcSubst:
		r.nested.substitution(p.Stmts, p.Op == syntax.CmdOut)
		b.dynamic(single)
		b.pipe = true
	case *syntax.ExtGlob:
		if strings.ContainsAny(p.Pattern.Value, "$`<>") || mayRun(p.Pattern.Value) {
			r.doubtAll("an unsupported pattern")
		}
		b.dynamic(spread)
	default:
		r.doubtAll("a word that bash does not know")
		b.dynamic(anything)
	}
}

// known adds the value of a variable to the word. The value may contain an unknown part.
func (b *wordBuilder) known(a arg) {
	b.text = append(b.text, a.text...)
	if a.kind != literal {
		b.name = b.name || a.name && b.kind == literal
		b.glob = b.glob || a.glob && b.kind == literal
		b.dynamic(a.kind)
		b.text = append(b.text, a.tail...)
	}
}

// mayRun reports whether zsh may read the parenthesized pattern as glob qualifiers that run a
// command, namely e and +.
func mayRun(pattern string) bool {
	return strings.ContainsAny(pattern, "e+") && !strings.ContainsAny(pattern, "|(") || strings.Contains(pattern, "#q")
}

// words returns the kind of an argument whose expansion is unknown. A quoted expansion yields a
// single word.
func words(quoted bool) argKind {
	if quoted {
		return single
	}
	return anything
}

// nameCommands lists commands that usually print a single name or number. Their output is assumed
// to be one word without a leading dash.
var nameCommands = map[string]set{
	"git":      setOf("branch rev-parse describe symbolic-ref merge-base rev-list name-rev"),
	"basename": nil, "dirname": nil, "pwd": nil, "whoami": nil, "hostname": nil, "uname": nil, "nproc": nil, "mktemp": nil, "realpath": nil, "which": nil, "wc": nil,
}

// settingPrograms lists programs that print shell commands for eval, each with the subcommands or
// options that make it do so.
var settingPrograms = map[string]set{
	"ssh-agent": setOf("-s"), "direnv": setOf("hook export"), "brew": setOf("shellenv"), "rbenv": setOf("init"), "pyenv": setOf("init virtualenv-init"),
	"nodenv": setOf("init"), "fnm": setOf("env"), "mise": setOf("activate env hook-env"), "rtx": setOf("activate"), "asdf": setOf("exec"), "conda": setOf("shell.bash"),
	"starship": setOf("init"), "zoxide": setOf("init"), "opam": setOf("env"), "luarocks": setOf("path"), "dircolors": setOf("-b"), "lesspipe": nil, "thefuck": setOf("--alias"),
	"minikube": setOf("docker-env"), "docker-machine": setOf("env"), "npm": setOf("completion"), "gh": setOf("completion"), "kubectl": setOf("completion"), "register-python-argcomplete": nil,
}

// calls reports whether the given statements consist only of a call to one of the programs. If the
// entry of that program lists subcommands, the call must use one of them.
func calls(list []*syntax.Stmt, programs map[string]set) bool {
	if len(list) != 1 || list[0].Negated || list[0].Background {
		return false
	}
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	subs, ok := programs[call.Args[0].Lit()]
	return ok && (subs == nil || len(call.Args) > 1 && subs[call.Args[1].Lit()])
}

// lit adds unquoted text.
func (b *wordBuilder) lit(s string, first bool) {
	glob := strings.ContainsAny(s, "*?[")
	if first && strings.HasPrefix(s, "~") {
		name, _, _ := strings.Cut(s, "/")
		b.dynamic(single)
		s = s[len(name):]
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.text = append(b.text, s[i])
			}
		case glob && strings.IndexByte("*?[]", c) >= 0:
			b.glob = b.glob || b.kind == literal
			b.dynamic(spread)
		default:
			b.text = append(b.text, c)
		}
	}
}

// single adds a single-quoted string of the form '...' or $'...'.
func (b *wordBuilder) single(r *expander, q *syntax.SglQuoted) {
	text, ok := q.Value, true
	if q.Dollar {
		r.doubtPosix() // other shells end the string at the first single quote, even after a backslash
		text, ok = unescape(q.Value)
	}
	if !ok {
		b.dynamic(single)
		return
	}
	b.text = append(b.text, text...)
}

// double adds a double-quoted string. bash may translate the string if it has the form $"...".
func (b *wordBuilder) double(r *expander, q *syntax.DblQuoted) {
	if q.Dollar {
		b.dynamic(single)
	}
	b.parts(r, q.Parts, true)
	if q.Dollar {
		b.dynamic(single)
	}
}

// appendQuoted appends text in double quotes, where a backslash escapes only a few characters.
func appendQuoted(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
}

// param reads ${...} and returns the kind of its expansion.
func (r *expander) param(p *syntax.ParamExp, quoted bool) argKind {
	if p.NestedParam != nil || p.Flags != nil || len(p.Modifiers) > 0 || p.IsSet || p.Width || p.Param == nil {
		r.doubtAll("an expansion that bash does not know")
		return anything
	}
	if quoted {
		if !r.expanding {
			for _, what := range misreadQuotes(p) {
				r.doubtAll(what)
			}
		}
		defer func(before bool) { r.expanding = before }(r.expanding)
		r.expanding = true
	}
	all := p.Param.Value == "@" || lit(p.Index) == "@" || p.Names == syntax.NamesPrefixWords
	if lit(p.Index) != "@" && lit(p.Index) != "*" {
		if p.Excl && p.Names == 0 {
			r.doubtArithmetic("an indirect expansion")
		}
		r.arithm(p.Index)
	}
	if p.Index != nil && p.Exp != nil && zshArrays[p.Param.Value] {
		r.doubtAll("a variable that changes what zsh runs: " + p.Param.Value)
	}
	if p.Slice != nil {
		r.arithm(p.Slice.Offset)
		r.arithm(p.Slice.Length)
	}
	if p.Repl != nil {
		r.within(p.Repl.Orig)
		r.within(p.Repl.With)
	}
	if p.Exp != nil && !r.expansion(p) {
		all = true
	}
	switch {
	case p.Length || isNumber(p.Param.Value) && p.Exp == nil:
		return single
	case all:
		return anything
	}
	return words(quoted)
}

// expansion reads the word in an expansion such as ${x:-word}. It reports whether that word expands
// to at most one word.
func (r *expander) expansion(p *syntax.ParamExp) bool {
	if p.Exp.Op == syntax.OtherParamOps && p.Exp.Word != nil && p.Exp.Word.Lit() == "P" {
		r.doubtAll("an expansion as a prompt")
	}
	if p.Exp.Word == nil {
		return true
	}
	a := r.within(p.Exp.Word)
	if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
		r.assigned(p.Param.Value, a)
	}
	return a.kind != anything
}

// hereDoc returns the expansion of a here document.
func (r *expander) hereDoc(w *syntax.Word) arg {
	var b wordBuilder
	for _, part := range w.Parts {
		b.part(r, part, true, false)
	}
	return b.arg()
}

// within reads w, a word in ${...}. It records that any command may run if w contains a process
// substitution, such as <(rm x), because bash runs the command but the parser reads it as text.
func (r *expander) within(w *syntax.Word) arg {
	if w == nil {
		return arg{}
	}
	for _, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		if ok && strings.ContainsAny(l.Value, "<>") && strings.Contains(l.Value, "(") {
			r.doubtAll("an unsupported process substitution")
		}
	}
	return r.word(w)
}

// inputsOf returns the files that redirections give a command as standard input.
func (r *expander) inputsOf(redirs []*syntax.Redirect) (files []arg) {
	for _, rd := range redirs {
		if rd.Op == syntax.RdrIn && rd.Word != nil {
			files = append(files, r.word(rd.Word))
		}
	}
	return files
}
