package shell

import (
	"maps"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// values holds the known values of variables. While the body of a function is read for a call, the
// array "@" holds the call's arguments, and the variables "1" to "9" hold the first nine of them.
type values struct {
	texts  map[string]arg
	arrays map[string][]arg
	either map[string][]string // the possible values of each variable that may have more than one
	lost   *set                // variables that the function definition being read makes unknown ("" stands for all variables); nil outside of definitions
}

// clone returns a copy that can be modified independently. Only the set in the field lost is
// shared.
func (v *values) clone() values {
	return values{maps.Clone(v.texts), maps.Clone(v.arrays), maps.Clone(v.either), v.lost}
}

// Maximum sizes, in bytes, of one known value and of all expansions of variables together.
const (
	maxValue    = 4 << 10
	maxExpanded = 256 << 10
)

// maxElements is the maximum number of elements in a known array, and of words in a known value.
const maxElements = 64

// maxAlternatives is the maximum number of possible values of one variable.
const maxAlternatives = 4

func (v *values) bind(name string, value arg) {
	if value.size() > maxValue {
		return
	}
	put(&v.texts, name, value)
}

func (v *values) bindArray(name string, elements []arg) {
	if sizes(elements) > maxValue {
		return
	}
	put(&v.arrays, name, elements)
}

// unbind makes the variable's value unknown.
func (v *values) unbind(name string) {
	delete(v.texts, name)
	delete(v.arrays, name)
	delete(v.either, name)
	if v.lost != nil {
		v.lost.add(name)
	}
}

// forgetAll makes the values of all variables unknown.
func (v *values) forgetAll() {
	clear(v.texts)
	clear(v.arrays)
	clear(v.either)
	if v.lost != nil {
		v.lost.add("")
	}
}

// alternatives returns the variable's possible values, or nil if they are unknown.
func (v *values) alternatives(name string) []string {
	if value, ok := v.texts[name]; ok && value.kind == literal {
		return []string{value.text}
	}
	return v.either[name]
}

// sliced returns the elements of list that the expansion p selects. For example, "${@:2}" selects
// all but the first. If the list is not known or the selection is uncertain, sliced returns false.
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
	return skipElements(list, n-1)
}

// skipElements returns list without its first n elements. It returns false if list is shorter than
// n, or if any of the first n elements may expand to several words or none.
func skipElements(list []arg, n int) ([]arg, bool) {
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

// shellWords lists the builtins and reserved words of shells. Some of these change the shell
// itself.
var shellWords = setOf(`. : [ [[ ]] { } ! alias autoload bg bind bindkey break builtin caller case cd chdir command compgen complete compopt continue coproc
	declare dirs disable disown do done echo elif else emulate enable esac eval exec exit export false fc fg fi float for function functions getopts hash help
	history if in integer jobs kill let limit local logout mapfile nocorrect noglob popd print printf pushd pwd read readarray readonly rehash return select
	set setopt shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unfunction unhash unset unsetopt until vared wait
	whence where which while zle zmodload zparseopts zstyle`)
