package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// values is what variables hold now, where that is known for certain.
type values struct {
	texts  map[string]arg
	arrays map[string][]arg
}

// bind notes that a variable holds a value.
func (v *values) bind(name string, value arg) {
	if v.texts == nil {
		v.texts = make(map[string]arg)
	}
	v.texts[name] = value
}

// bindArray notes that an array has these elements.
func (v *values) bindArray(name string, elements []arg) {
	if v.arrays == nil {
		v.arrays = make(map[string][]arg)
	}
	v.arrays[name] = elements
}

// unbind notes that nothing is known of a variable.
func (v *values) unbind(name string) {
	delete(v.texts, name)
	delete(v.arrays, name)
}

// forget notes that nothing is known of any variable.
func (v *values) forget() {
	clear(v.texts)
	clear(v.arrays)
}

// mayBind reports whether a variable keeps the value that a script assigns.
func (v *variables) mayBind(name string) bool {
	return !v.unbound && !v.wild && isName(name) && !implicitVariables[name] && !counters[name] && !begins(name, "BASH") && !ownVariables[name] && !steers(name)
}

// ownVariables are those that bash gives values of its own.
var ownVariables = setOf("PWD OLDPWD REPLY OPTARG PPID UID EUID GROUPS DIRSTACK HOSTNAME PIPESTATUS COLUMNS LINES SHLVL COPROC HISTCMD")

// isPlain reports whether an expansion is $x, ${x} or ${x[...]}.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Slice == nil && p.Repl == nil && p.Exp == nil &&
		p.Names == 0 && p.NestedParam == nil && p.Flags == nil && !p.IsSet && len(p.Modifiers) == 0
}

// valueOf returns the value of an expansion that is one word, if it is known.
func (v *values) valueOf(p *syntax.ParamExp, quoted bool) (value arg, ok bool) {
	if len(v.texts) == 0 || !isPlain(p) || p.Index != nil {
		return arg{}, false
	}
	value, ok = v.texts[p.Param.Value]
	if !ok || !quoted && (value.kind != literal || value.text == "" || strings.ContainsAny(value.text, " \t\n*?[\\~")) {
		return arg{}, false
	}
	return value, value.kind <= single
}

// several returns what a word stands for that is nothing but "${x[@]}" or an unquoted $x whose value
// is divided at its blanks, if that is known.
func (v *values) several(w *syntax.Word) (list []arg, ok bool) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isPlain(p) {
		return nil, false
	}
	if p.Index == nil {
		value, ok := v.texts[p.Param.Value]
		if quoted || !ok || value.kind != literal || !isDivisible(value.text) {
			return nil, false
		}
		return literals(strings.Fields(value.text)), true
	}
	list, ok = v.arrays[p.Param.Value]
	if !ok || !isLit(p.Index, "@") {
		return nil, false
	}
	for _, a := range list {
		if !quoted && (a.kind != literal || a.text == "" || strings.Trim(a.text, plainLetters) != "") {
			return nil, false
		}
	}
	return list, true
}

// onlyExpansion returns the expansion that a word consists of; nil: it is another word.
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

// plainLetters are characters that mean themselves in every shell, wherever they stand in a word but as its first.
const plainLetters = nameLetters + "0123456789./:=@%+,-"

// isDivisible reports whether a text is words of plain letters with blanks between them. What is
// made of it is the same whether or not the shell divides it: zsh does not.
func isDivisible(text string) bool {
	return strings.Contains(strings.TrimSpace(text), " ") && strings.Count(text, " ") < maxElements && strings.Trim(text, plainLetters+" ") == ""
}
