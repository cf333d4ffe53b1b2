package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An effectSet describes which variables a part of a script can change.
type effectSet struct {
	names     set
	arguments bool // whether the positional parameters ($1, $2, ...) can change
	all       bool
}

// maxEffects is the maximum number of visits to syntax nodes in the search for changes to
// variables. A node within nested loops is visited several times.
const maxEffects = 200_000

// effectsOf returns the variables that the given part of a script can change. It ignores commands
// that a function runs through "$@", because they are considered when the function is called.
func (v *variables) effectsOf(node syntax.Node) (c effectSet) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if v.visited++; v.visited > maxEffects {
			c.all = true
			return false
		}
		switch n := n.(type) {
		case *syntax.Assign:
			name := nameOf(n)
			c.names.add(name)
			c.all = c.all || name == "" || name == "IFS"
			c.arguments = c.arguments || name == "argv"
		case *syntax.WordIter:
			c.names.add(n.Name.Value)
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
				c.names.add(n.Param.Value)
			}
		case *syntax.BinaryArithm:
			if name := lit(n.X); name != "" {
				c.names.add(name)
			} else if n.Op >= syntax.Assgn && n.Op <= syntax.ShrAssgn {
				c.all = true
			}
		case *syntax.UnaryArithm:
			c.names.add(lit(n.X))
		case *syntax.LetClause, *syntax.CoprocClause:
			c.all = true
		case *syntax.Redirect:
			c.all = c.all || n.N != nil && n.N.Value != "" && n.N.Value[0] == '{'
		case *syntax.CallExpr:
			v.addCommand(&c, n.Args)
		}
		return true
	})
	return c
}

// setters lists the builtins that set the variables named by their arguments.
var setters = setOf("read mapfile readarray getopts unset")

// otherSetters lists the builtins that can set any variable, directly or by running other code.
var otherSetters = setOf(`eval source . trap alias unalias let declare typeset local export readonly enable exec command builtin fc bind emulate print vared integer
	float zparseopts setopt unsetopt functions autoload zmodload noglob nocorrect`)

// addCommand records in c which variables a simple command with the given words may change.
func (v *variables) addCommand(c *effectSet, args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	word := strings.ReplaceAll(args[0].Lit(), `\`, "") // a backslash, as in \read, prevents alias expansion and does nothing else
	if list, ok := v.elements(args[0]); ok && word == "" && len(list) > 0 && list[0].kind == literal {
		word = list[0].text
		c.all = c.all || isSetter(word)
	} else if p, _ := onlyExpansion(args[0]); word == "" && p != nil && isPlain(p) && p.Index == nil && v.texts[p.Param.Value].kind == literal {
		word = v.texts[p.Param.Value].text
		c.all = c.all || isSetter(word)
	}
	second := ""
	if len(args) > 1 {
		second = args[1].Lit()
	}
	switch {
	case word == "":
		c.all = c.all || !isGiven(args[0])
	case word == "shift", word == "set":
		c.arguments = true
		c.all = c.all || second == "-A" || second == "+A" || word == "shift" && second != "" && !isDigits(second)
	case strings.Contains(word, "{"):
		c.all = true
	case word == "printf":
		c.all = c.all || len(args) > 1 && mayBeOption(args[1])
	case setters[word]:
		for _, a := range args[1:] {
			name := a.Lit()
			c.names.add(name)
			c.all = c.all || strings.Trim(name, nameLetters+"0123456789-") != "" || name == "" || len(name) > 2 && name[0] == '-' && name != "-ra" && name != "-rp" && name != "-rs"
		}
	case v.forwardingFunctions[word]:
		for _, a := range args[1:] {
			c.all = c.all || isSetter(strings.ReplaceAll(a.Lit(), `\`, ""))
		}
	case word == "command" && (second == "-v" || second == "-V"):
	case otherSetters[word]:
		c.all = true
	}
}

// isSetter reports whether word is a builtin that may change variables.
func isSetter(word string) bool {
	return setters[word] || otherSetters[word] || word == "printf" || word == "set" || word == "shift"
}

// mayBeOption reports whether the first argument of printf can be -v or -vNAME.
func mayBeOption(w *syntax.Word) bool {
	known := ""
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			known += n.Value
		case *syntax.SglQuoted:
			known += n.Value
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
			return false
		}
		return true
	})
	return strings.Trim(known, nameLetters+"0123456789[]-") == "" && (strings.HasPrefix(known, "-v") || !isText(w.Parts)) || strings.HasPrefix(known, `\`)
}

// assignedValues returns the known values that the given statements assign to variables. It leaves
// out a variable if more than one of the statements may change it.
func (v *variables) assignedValues(list []*syntax.Stmt) map[string]string {
	texts, changed := make(map[string]string), make(set)
	for _, s := range list {
		c := v.effectsOf(s)
		if c.all {
			return nil
		}
		call, ok := s.Cmd.(*syntax.CallExpr)
		simple := ok && len(call.Args) == 0 && !s.Negated && !s.Background && len(s.Redirs) == 0
		for name := range c.names {
			if changed[name] || !simple {
				delete(texts, name)
				simple = simple && !changed[name]
			}
			changed.add(name)
		}
		for i := 0; simple && i < len(call.Assigns); i++ {
			if a := call.Assigns[i]; a.Name != nil && a.Array == nil && a.Index == nil && !a.Append && a.Value != nil {
				if text, ok := plainText(a.Value); ok {
					texts[a.Name.Value] = text
				}
			}
		}
	}
	return texts
}

// forgetEffects forgets the values of the variables in c. It is used for parts of a script that may
// run later or several times, such as function bodies and loops.
func (v *variables) forgetEffects(c effectSet) {
	if c.all {
		v.forgetAll()
	}
	if c.arguments {
		v.setArguments(nil, false)
	}
	for name := range c.names {
		v.unbind(name)
	}
}

// bindBranches records the values of the variables that all branches of an if statement set to
// known text. Without an else branch, it records nothing.
func (v *variables) bindBranches(cmd syntax.Command) {
	c, ok := cmd.(*syntax.IfClause)
	held, branches := make(map[string][]string), 0
	for ; ok && c != nil; c = c.Else {
		branches++
		for name, text := range v.assignedValues(c.Then) {
			held[name] = append(held[name], text)
		}
		if c.Else == nil && c.ThenPos.IsValid() {
			return // without else, an if statement does not always change the variables
		}
	}
	for name, texts := range held {
		if len(texts) == branches && branches <= maxAlternatives && v.mayBind(name) && !v.fixed[name] {
			put(&v.either, name, texts)
		}
	}
}
