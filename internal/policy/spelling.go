package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// A vocabulary collects the names in a policy, in order. It omits quoted names, which are meant
// literally.
type vocabulary struct {
	*builder
	all    []*spelling
	byText map[string]*spelling
}

// collect finds the names in rules, claims and nets.
func (v *vocabulary) collect() {
	for i, f := range v.files {
		for j, s := range f.Statements {
			v.ofStatement(s, fmt.Sprintf("%d:%d", i, j))
		}
	}
	for i := range v.source.Nets {
		v.ofNet(&v.source.Nets[i], fmt.Sprint(i))
	}
}

func (v *vocabulary) named(text string) *spelling {
	s := v.byText[text]
	if s == nil {
		s = &spelling{text: text, words: wordsOf(text), pattern: isPattern(text)}
		v.byText[text] = s
		v.all = append(v.all, s)
	}
	return s
}

// addUse records an occurrence of a name. If the same list contains the name several times, addUse
// records only the first occurrence. It ignores quoted names, prompts and resources.
func (v *vocabulary) addUse(o occurrence) {
	if o.Quoted || beyondTools(o.Text) {
		return
	}
	s := v.named(o.Text)
	if last := len(s.uses) - 1; last < 0 || s.uses[last].list != o.list {
		s.uses = append(s.uses, o)
	}
}

func (v *vocabulary) ofStatement(s rules.Statement, list string) {
	if m, ok := s.(*rules.Map); ok {
		for _, tool := range m.Tools {
			v.addUse(occurrence{Name: tool, list: list})
		}
		label := v.named(m.As.Text)
		label.idle = v.findProblem(string(rules.UnusedLabel), m.As.Pos) != nil
		if label.given == (gate.Position{}) {
			label.given = m.As.Pos
		}
	}
	text := s.String()
	for _, m := range mentions(s) {
		v.addUse(occurrence{Name: m.Name, list: list, form: strings.ReplaceAll(text, m.String(), "\x00")})
	}
}

func (v *vocabulary) ofNet(n *config.Net, list string) {
	use := func(list string, names []string, where func(string) gate.Position) {
		for _, name := range names {
			v.addUse(occurrence{Name: rules.Name{Text: name, Pos: where(name)}, net: n, list: list})
		}
	}
	for _, m := range n.Map {
		use(list+":"+m.As, []string{m.Tool}, func(string) gate.Position { return at(m.Of("tool", ""), m.Position) })
		if label := v.named(m.As); label.given == (gate.Position{}) {
			label.given = position(m.Position)
		}
	}
	use(list, n.FreeTools, places(n.Of, "freeTools", n.Position))
	for _, t := range n.Transitions {
		in := list + "/" + t.Name
		if len(t.Except) == 0 {
			use(in, t.Tools, places(t.Of, "tools", t.Position))
		}
		use(in, t.Unless, places(t.Of, "unless", t.Position))
		use(in, t.Except, places(t.Of, "except", t.Position))
	}
	for _, place := range allowed(n) {
		use(list+"@"+place, n.Allow[place], places(n.Allowed, place, n.Position))
	}
}

// A spelling is a particular way to write a name, with all its uses in the policy.
type spelling struct {
	text    string
	words   []string
	pattern bool
	given   gate.Position // position of the first map statement or map entry that assigns this name; zero if the name is not assigned
	idle    bool          // whether a map statement assigns this name, but no rule uses it
	uses    []occurrence
}

// An occurrence is a use of a name.
type occurrence struct {
	rules.Name
	net  *config.Net // the net that uses the name; nil if a rule does
	list string      // identifies the statement, or the list in a net, that contains the name
	form string      // the text of the statement, with a placeholder instead of the name
}

// findProblem returns the problem with the given code at the given position, or nil if none was
// reported.
func (v *vocabulary) findProblem(code string, at gate.Position) *diag.Problem {
	i := slices.IndexFunc(v.result.Problems, func(p diag.Problem) bool {
		return p.Code == code && p.File == at.File && p.Line == at.Line && p.Column == at.Column
	})
	if i < 0 {
		return nil
	}
	return &v.result.Problems[i]
}

// retract removes the warning with the given code at the given position. It is used if another
// warning explains the same problem.
func (v *vocabulary) retract(code rules.Code, at gate.Position) {
	said := v.findProblem(string(code), at)
	v.result.Problems = slices.DeleteFunc(v.result.Problems, func(p diag.Problem) bool { return said != nil && p == *said })
}

// addProblem records a problem with a name in rules or in a net.
func (v *vocabulary) addProblem(o occurrence, p diag.Problem) {
	if o.net != nil {
		v.inNet(o.net, p)
		return
	}
	v.atName(o.Name, p)
}
