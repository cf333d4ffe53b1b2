package shell

import (
	"maps"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// values has the values of variables that are known for certain. While a body is read for a call,
// the array "@" has the arguments of the function, and "1" to "9" are the first nine of them.
type values struct {
	texts  map[string]arg
	arrays map[string][]arg
	either map[string][]string // possible values of a variable that has one of several
	lost   *set                // if not nil, collects the names that lose their values; "": all do
}

// clone returns a copy that can be modified independently, except for lost.
func (v *values) clone() values {
	return values{maps.Clone(v.texts), maps.Clone(v.arrays), maps.Clone(v.either), v.lost}
}

// Bounds in bytes: for one known value, and for all expansions of variables together.
const (
	maxValue    = 4 << 10
	maxExpanded = 256 << 10
)

// size returns the number of bytes in an argument.
func (a arg) size() int { return len(a.text) + len(a.mid) + len(a.tail) }

// sizes returns the number of bytes in a list of arguments.
func sizes(list []arg) (n int) {
	for _, a := range list {
		n += a.size()
	}
	return n
}

// maxElements bounds the elements of a known array, and the words of a known value.
const maxElements = 64

// maxAlternatives bounds the possible values of one variable.
const maxAlternatives = 4

// bind sets the value of a variable.
func (v *values) bind(name string, value arg) {
	if value.size() > maxValue {
		return
	}
	if v.texts == nil {
		v.texts = make(map[string]arg)
	}
	v.texts[name] = value
}

// bindArray sets the elements of an array.
func (v *values) bindArray(name string, elements []arg) {
	if sizes(elements) > maxValue {
		return
	}
	if v.arrays == nil {
		v.arrays = make(map[string][]arg)
	}
	v.arrays[name] = elements
}

// unbind makes the value of a variable unknown.
func (v *values) unbind(name string) {
	delete(v.texts, name)
	delete(v.arrays, name)
	delete(v.either, name)
	if v.lost != nil {
		v.lost.add(name)
	}
}

// forget makes the values of all variables unknown.
func (v *values) forget() {
	clear(v.texts)
	clear(v.arrays)
	clear(v.either)
	if v.lost != nil {
		v.lost.add("")
	}
}

// bindEither sets the possible values of a variable.
func (v *values) bindEither(name string, list []string) {
	if v.either == nil {
		v.either = make(map[string][]string)
	}
	v.either[name] = list
}

// alternatives returns the possible values of a variable, or nil if they are unknown.
func (v *values) alternatives(name string) []string {
	if value, ok := v.texts[name]; ok && value.kind == literal {
		return []string{value.text}
	}
	return v.either[name]
}

// setArguments sets the arguments of a function, or makes them unknown.
func (v *variables) setArguments(list []arg, known bool) {
	v.unbind("@")
	v.unbind("*")
	for i := range 9 {
		v.unbind(strconv.Itoa(i + 1))
	}
	if !known {
		return
	}
	v.bindArray("@", list)
	if v.customIFS {
		return
	}
	joined := make([]string, 0, len(list))
	for i, a := range list {
		if a.kind > single {
			break // the numbers of the following ones are unknown
		}
		if i < 9 {
			v.bind(strconv.Itoa(i+1), a)
		}
		if a.kind == literal {
			joined = append(joined, a.text)
		}
	}
	if len(joined) == len(list) {
		v.bind("*", arg{text: strings.Join(joined, " ")})
	}
}

// mayBind reports whether a variable keeps the value that a script assigns to it.
func (v *variables) mayBind(name string) bool {
	return !v.unbound && !v.wild && !v.never[name] && isName(name) && !implicitVariables[name] && !counters[name] && !begins(name, "BASH") && !ownVariables[name] && !steers(name)
}

// neverBind makes the value of a variable unknown for the rest of the script.
func (v *variables) neverBind(name string) {
	v.unbind(name)
	v.never.add(name)
}

// lose makes unknown what a part of the script may change that runs repeatedly or later.
func (v *variables) lose(c effects) {
	if c.all {
		v.forget()
	}
	if c.arguments {
		v.setArguments(nil, false)
	}
	for name := range c.names {
		v.unbind(name)
	}
}

// ownVariables are the variables that bash or zsh set themselves.
var ownVariables = setOf("PWD OLDPWD REPLY OPTARG PPID UID EUID GROUPS DIRSTACK HOSTNAME PIPESTATUS COLUMNS LINES SHLVL COPROC HISTCMD argv status pipestatus")

// isPlain reports whether an expansion is $x, ${x} or ${x[...]}.
func isPlain(p *syntax.ParamExp) bool { return p.Slice == nil && isSlice(p) }

// isSlice reports whether an expansion is $x, ${x}, ${x[...]} or ${x:...}.
func isSlice(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Repl == nil && p.Exp == nil &&
		p.Names == 0 && p.NestedParam == nil && p.Flags == nil && !p.IsSet && len(p.Modifiers) == 0
}

// valueOf returns the value of an expansion if it is known and one word.
func (v *variables) valueOf(p *syntax.ParamExp, quoted bool) (value arg, ok bool) {
	if len(v.texts) == 0 || !isPlain(p) || p.Index != nil {
		return arg{}, false
	}
	value, ok = v.texts[p.Param.Value]
	if v.expanded += value.size(); v.expanded > maxExpanded {
		return arg{}, false
	}
	if value.name && value.kind == single && value.text == "" && value.tail == "" {
		return value, ok
	}
	if !ok || !quoted && (value.kind != literal || value.text == "" || p.Param.Value == "*" || strings.ContainsAny(value.text, " \t\n*?[\\~")) {
		return arg{}, false
	}
	return value, value.kind <= single
}

// elements returns the expansion of a word that consists of "${x[@]}", "$@" or "${@:2}" alone, if
// it is known. Outside quotes, the elements must be words that no shell splits.
func (v *variables) elements(w *syntax.Word) (list []arg, ok bool) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isSlice(p) {
		return nil, false
	}
	if p.Param.Value == "@" {
		list, ok = v.arrays["@"]
		list, ok = sliced(p, list, ok && p.Index == nil)
	} else if p.Slice == nil && isLit(p.Index, "@") {
		list, ok = v.arrays[p.Param.Value]
	}
	for _, a := range list {
		if !quoted && (v.customIFS || a.kind != literal || a.text == "" || strings.Trim(a.text, plainLetters) != "") {
			return nil, false
		}
	}
	v.expanded += sizes(list)
	return list, ok && v.expanded <= maxExpanded
}

// sliced returns the elements selected by the offset of "${@:2}".
func sliced(p *syntax.ParamExp, list []arg, known bool) ([]arg, bool) {
	if p.Slice == nil || !known {
		return list, known
	}
	w, ok := p.Slice.Offset.(*syntax.Word)
	if !ok || p.Slice.Length != nil {
		return nil, false
	}
	n, err := strconv.Atoi(w.Lit())
	if err != nil || n < 1 {
		return nil, false
	}
	return behind(list, n-1)
}

// behind returns a list without its first n elements, if it certainly has as many.
func behind(list []arg, n int) ([]arg, bool) {
	if n > len(list) {
		return nil, false
	}
	for _, a := range list[:n] {
		if a.kind > single {
			return nil, false
		}
	}
	return list[n:], true
}

// commands returns the possible expansions of a command word that consists of $x alone, one list of
// words for each possible value of x, or nil if they are unknown. Without quotes, plain text is
// split at blanks; zsh does not split it, and then finds no program of that name. No value may be a
// builtin, since a builtin affects the shell that runs it.
func (v *variables) commands(w *syntax.Word) (lists [][]arg) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isPlain(p) || p.Index != nil || p.Param.Value == "*" {
		return nil
	}
	values := v.alternatives(p.Param.Value)
	for _, text := range values {
		words := strings.Fields(text)
		switch {
		case len(words) == 0 && !quoted: // the following words are the command
		case len(words) == 0, len(words) > maxElements, shellWords[words[0]], strings.Trim(text, plainLetters+" ") != "",
			len(words) > 1 && (quoted || v.customIFS):
			return nil
		}
		lists = append(lists, literals(words))
	}
	if len(lists) == 1 && len(lists[0]) == 1 {
		return nil // treated like any other value
	}
	for _, list := range lists {
		if v.expanded += sizes(list); v.expanded > maxExpanded {
			return nil
		}
	}
	return lists
}

// onlyExpansion returns the expansion that a word consists of, or nil for any other word.
func onlyExpansion(w *syntax.Word) (p *syntax.ParamExp, quoted bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok {
		if len(q.Parts) != 1 || q.Dollar {
			return nil, false
		}
		part, quoted = q.Parts[0], true
	}
	p, _ = part.(*syntax.ParamExp)
	return p, quoted
}

// isGiven reports whether a word consists of function arguments alone: "$@", "${@:2}", "$*" or $1.
func isGiven(w *syntax.Word) bool {
	p, _ := onlyExpansion(w)
	if p == nil || !isSlice(p) || p.Index != nil {
		return false
	}
	name := p.Param.Value
	return name == "@" || p.Slice == nil && (name == "*" || len(name) == 1 && "1" <= name && name <= "9")
}

// plainLetters are the characters without special meaning in every shell, except at the start of a
// word.
const plainLetters = nameLetters + "0123456789./:=@%+,-"

// shellWords are the builtins and reserved words of shells. Some of them change the shell itself.
var shellWords = setOf(`. : [ [[ ]] { } ! alias autoload bg bind bindkey break builtin caller case cd chdir command compgen complete compopt continue coproc
	declare dirs disable disown do done echo elif else emulate enable esac eval exec exit export false fc fg fi float for function functions getopts hash help
	history if in integer jobs kill let limit local logout mapfile nocorrect noglob popd print printf pushd pwd read readarray readonly rehash return select
	set setopt shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unfunction unhash unset unsetopt until vared wait
	whence where which while zle zmodload zparseopts zstyle`)
