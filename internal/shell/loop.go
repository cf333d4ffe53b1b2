package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLoopBodies bounds the loop bodies read, one for each word.
const maxLoopBodies = 64

// loop reads for and select. It reads the body once per word if the words are few and known.
func (r *reader) loop(c *syntax.ForClause) {
	r.files.loops = true
	changed := r.vars.effectsOf(c)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		value, values := arg{text: "0"}, []arg(nil)
		for _, w := range l.Items {
			for _, a := range r.expand(nil, w) {
				values = append(values, a)
				if !isInteger(a) && !isCount(w) && !(isIndices(w) && !r.strict && !keyed.MatchString(r.outermost)) {
					value = a
				}
			}
		}
		if c.Select || !l.InPos.IsValid() {
			value, values = arg{kind: anything}, nil
		}
		r.vars.forgetEffects(changed)
		r.assigned(l.Name.Value, value)
		if r.loopBodies += len(values); len(values) > 0 && r.loopBodies <= maxLoopBodies && r.vars.mayBind(l.Name.Value) {
			for _, v := range values {
				r.vars.forgetEffects(changed)
				if r.vars.mayBind(l.Name.Value) { // no function in the body sets the variable
					r.vars.bind(l.Name.Value, each(v))
				}
				r.stmts(c.Do)
			}
			r.vars.forgetEffects(changed)
			return
		}
	case *syntax.CStyleLoop:
		r.vars.forgetEffects(changed)
		r.arithm(l.Init)
		r.arithm(l.Cond)
		r.arithm(l.Post)
	}
	r.stmts(c.Do)
	r.vars.forgetEffects(changed)
}

// each returns one of the words that an argument expands to.
func each(a arg) arg {
	if a.kind == spread {
		a.kind = single
	}
	return a
}

// isCount reports whether a word is a numeric range such as {1..9}.
func isCount(w *syntax.Word) bool {
	text := w.Lit()
	return strings.HasPrefix(text, "{") && strings.Trim(text, "{}.-0123456789") == ""
}

// keyed matches scripts that may declare an associative array with -A.
var keyed = regexp.MustCompile(`[-+][a-zA-Z]*A`)

// isIndices reports whether a word expands to an array's indices: "${!x[@]}". Indices are numbers
// unless the array is declared with -A.
func isIndices(w *syntax.Word) bool {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && p.Excl && p.Names == 0 && (isLit(p.Index, "@") || isLit(p.Index, "*")) && p.Exp == nil && p.Slice == nil && p.Repl == nil
}
