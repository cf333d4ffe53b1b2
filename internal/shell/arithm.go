package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithm interprets an arithmetic expression, including the variables and command substitutions in
// it.
func (r *expander) arithm(x syntax.ArithmExpr) {
	if x == nil || !r.enter() {
		return
	}
	defer r.leave()
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			r.term(n)
			return false
		case *syntax.FlagsArithm:
			r.doubtAll("arithmetic that bash does not know")
		}
		return true
	})
}

// term interprets an operand of an arithmetic expression: a number, a variable or an expansion.
// bash may run a command in an array index, as in a[$(rm x)]. If the parser may have missed an
// index in the operand, term records that any command may run. If the operand contains unknown
// text, such as the output of a command, term calls [findings.doubtArithmetic], because the text
// may contain an index.
func (r *expander) term(w *syntax.Word) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "[]\\$`'\"") {
				r.doubtAll("an unsupported index")
			}
			r.compute(p.Value)
		case *syntax.ParamExp:
			r.param(p, true)
			if name := p.Param; name != nil && !p.Length && !isNumber(name.Value) {
				if !isName(name.Value) {
					r.doubtArithmetic("arithmetic on arguments")
				}
				r.compute(name.Value)
			}
			if p.Exp != nil || p.Repl != nil || p.Excl {
				r.doubtArithmetic("arithmetic on an expansion")
			}
		case *syntax.ArithmExp:
			r.arithm(p.X)
		case *syntax.DblQuoted:
			r.term(&syntax.Word{Parts: p.Parts})
		case *syntax.CmdSubst:
			r.nested.substitution(p.Stmts, false)
			r.doubtArithmetic("arithmetic on the output of a command")
		default:
			r.word(w)
			r.doubtArithmetic("arithmetic on text")
		}
	}
}

// test interprets the expression inside [[ ]].
func (r *expander) test(x syntax.TestExpr) {
	if x == nil || !r.enter() {
		return
	}
	defer r.leave()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		r.operandTest(x.Op, x.X)
		r.operandTest(x.Op, x.Y)
	case *syntax.UnaryTest:
		r.test(x.X)
		if w, ok := x.X.(*syntax.Word); (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) && (!ok || !isName(w.Lit())) {
			r.doubtArithmetic("a test of a variable whose name is not literal") // if the name contains an array index, bash evaluates the index
		}
	case *syntax.ParenTest:
		r.test(x.X)
	case *syntax.Word:
		r.word(x)
	}
}

// operandTest interprets an operand of a test. Numeric operators such as -eq evaluate their
// operands as arithmetic.
func (r *expander) operandTest(op syntax.BinTestOperator, x syntax.TestExpr) {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		if w, ok := x.(*syntax.Word); ok {
			r.term(w)
			return
		}
	}
	r.test(x)
}
