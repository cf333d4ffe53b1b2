package policydiff

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// An edit is a random policy and the result of a single change to it.
type edit struct {
	rules [2][]written
	maps  [2][]string
	nets  [2]*flow // nil if the policy has no net
	deny  [2]bool
	tools []verify.Tool // servers' tools; nil if unknown
	kind  string        // description of the change
	of    *subject
}

// A subject is the vocabulary of a policy's rules.
type subject struct {
	each, same []string // keys for limits, and keys for two calls
	args       []string // members of argument objects
	maps       []string
}

var subjects = []subject{
	{args: []string{""}},
	{each: []string{"f"}, same: []string{"f", "f", "result.$.r as f"}, args: []string{"", `"f":"x"`, `"f":"y"`, `"f":["x","y"]`}},
	{
		each: []string{"f, g", "f"}, same: []string{"f, g", "f as g", "f"},
		args: []string{`"f":"x"`, `"f":"x","g":"x"`, `"f":"x","g":"y"`, `"f":"y","g":"x"`},
	},
	{
		each: []string{`"args.f.lowerAscii()"`, "f"}, same: []string{`"args.f.lowerAscii()"`, "f"},
		args: []string{"", `"f":"x"`, `"f":"X"`, `"f":"y"`, `"f":1`},
	},
	{
		each: []string{"f"}, same: []string{"f"}, args: []string{"", `"f":"x"`, `"f":"y"`, `"f":["x"]`},
		maps: []string{"map a.f x as m", "map b.f y as m", "map *.f x as m", `map a when "args.f == 'x'" as m`},
	},
}

// served lists the tools of two servers. Two of the names denote tools of both servers.
var served = []verify.Tool{
	{Name: "s_a", Also: []gate.Name{{Text: "a", Weak: true}, {Text: "s.a", Certain: true}}},
	{Name: "t_a", Also: []gate.Name{{Text: "a", Weak: true}, {Text: "t.a", Certain: true}}},
	{Name: "s_b", Also: []gate.Name{{Text: "b", Weak: true}, {Text: "s.b", Certain: true}}},
	{Name: "t_b", Also: []gate.Name{{Text: "b", Weak: true}, {Text: "t.b", Certain: true}}},
	{Name: "s_c", Also: []gate.Name{{Text: "c", Certain: true}, {Text: "s.c", Certain: true}}},
}

// also returns the further names of a tool.
func (e *edit) also(tool string) []gate.Name {
	for _, t := range e.tools {
		if t.Name == tool {
			return t.Also
		}
	}
	return nil
}

// A written is a rule split into parts, so that one of them can be changed.
type written struct {
	form    string
	a, b, c []string // lists of calls
	n       int
	key     string // including "for each" or "with same"
	unless  string
	word    string // variable word in the form
}

// forms lists the forms that rules can have.
var forms = []string{
	"require", "or", "since", "after", "approval after", "at once", "in a row", "of amount", "per session",
	"per call", "per minute", "per user", "per user per minute", "approvals", "allow", "block",
}

func newEdit(g *rand.Rand) *edit {
	deny := g.IntN(5) == 0
	e := &edit{of: &subjects[g.IntN(len(subjects))], deny: [2]bool{deny, deny}}
	names := []string{"a", "b", "c"}[:2+g.IntN(2)]
	if len(e.of.maps) > 0 {
		names = append(names, "m")
		e.maps[0] = []string{e.of.maps[g.IntN(len(e.of.maps))]}
	}
	if g.IntN(6) == 0 {
		names = append(names, "*")
	}
	if g.IntN(6) == 0 {
		e.tools = served
		names = append(names, "s.a", "t_b", "s_*")
	}
	w := &scribe{g, e.of, names}
	for range 1 + g.IntN(3) {
		e.rules[0] = append(e.rules[0], w.rule())
	}
	if g.IntN(4) == 0 {
		e.nets[0] = w.flow()
	}
	for e.kind == "" {
		e.rules[1], e.maps[1], e.nets[1], e.deny[1] = slices.Clone(e.rules[0]), e.maps[0], e.nets[0], deny
		if e.kind = w.change(e); g.IntN(4) == 0 && e.kind != "" {
			if more := w.change(e); more != "" {
				e.kind = "two edits"
			}
		}
	}
	return e
}

// A scribe writes rules.
type scribe struct {
	*rand.Rand
	of    *subject
	names []string
}

func (w *scribe) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *scribe) maybe(of int, texts ...string) string {
	if len(texts) == 0 || w.IntN(of) > 0 {
		return ""
	}
	return w.pick(texts...)
}

func (w *scribe) list() []string {
	one := []string{w.pick(w.names...)}
	if other := w.pick(w.names...); w.IntN(4) == 0 && other != one[0] {
		one = append(one, other)
	}
	return one
}

func (w *scribe) rule() written {
	r := written{form: w.pick(forms...), a: w.list(), b: w.list(), c: w.list(), n: 1 + w.IntN(3)}
	switch r.form {
	case "since":
		r.a, r.word = r.a[:1], w.maybe(4, " once")
	case "or":
		if len(r.a) < 2 {
			r.a = append(r.a, w.pick(w.names...))
		}
	case "require":
		r.word = w.maybe(5, " once")
	case "after", "approval after":
		if w.IntN(3) == 0 {
			r.c = nil
		}
	case "per call":
		r.word = w.maybe(2, "successful ")
	case "of amount":
		r.word = w.pick("session", "session", "session", "user")
	case "approvals":
		r.word = w.maybe(5, " via cli")
	case "block":
		r.word = w.maybe(4, "shadow ")
	}
	if w.IntN(5) < 2 {
		r.key = w.key(r.form)
	}
	r.unless = w.exception(r.form, 6)
	return r
}

// key returns a key for the form, or the empty string if the form has no key.
func (w *scribe) key(form string) string {
	switch form {
	case "require", "or", "since", "after":
		if len(w.of.same) > 0 {
			return " with same " + w.pick(w.of.same...)
		}
	case "at once", "of amount", "per session", "per call", "per minute", "per user", "per user per minute":
		if len(w.of.each) > 0 {
			return " for each " + w.pick(w.of.each...)
		}
	}
	return ""
}

func (w *scribe) exception(form string, of int) string {
	if form == "allow" {
		return ""
	}
	return w.maybe(of, " unless "+w.pick(w.names...))
}

func (r *written) String() string {
	a, b, c := strings.Join(r.a, ", "), strings.Join(r.b, ", "), strings.Join(r.c, ", ")
	if len(r.c) > 0 {
		c = " until " + r.c[0]
	}
	limit := fmt.Sprintf("limit %s to %d ", a, r.n)
	rest := r.key + r.unless
	switch r.form {
	case "require":
		return fmt.Sprintf("require %s before %s%s%s", a, b, r.word, rest)
	case "or":
		return fmt.Sprintf("require %s before %s%s", strings.Join(r.a, " or "), b, rest)
	case "since":
		return fmt.Sprintf("require %s before %s%s since %s%s", a, b, r.word, strings.Join(r.c, ", "), rest)
	case "after":
		return fmt.Sprintf("block %s after %s%s%s", b, r.a[0], c, rest)
	case "approval after":
		return fmt.Sprintf("require %shuman-approval before %s after %s%s", [...]string{"", "2 ", ""}[r.n-1], b, r.a[0], c)
	case "at once":
		return limit + "at once" + rest
	case "in a row":
		return limit + "in a row" + r.unless
	case "of amount":
		return limit + "of amount per " + r.word + rest
	case "per session", "per minute", "per user", "per user per minute":
		return limit + r.form + rest
	case "per call":
		return limit + "per " + r.word + r.b[0] + rest
	case "approvals":
		return fmt.Sprintf("require %shuman-approval%s before %s%s", [...]string{"", "2 ", "2 "}[r.n-1], r.word, a, r.unless)
	case "allow":
		return "allow " + a
	}
	return r.word + "block " + a + r.unless
}

// change edits the new policy. It returns a description of the change, or the empty string if
// nothing was changed.
func (w *scribe) change(e *edit) (kind string) {
	rules := e.rules[1]
	if len(rules) == 0 {
		return ""
	}
	at := w.IntN(len(rules))
	r := &rules[at]
	was := *r
	switch kind = w.pick("rule added", "rule removed", "rule replaced", "key", "count", "evidence", "list", "spoilers", "exception", "word", "map", "net", "default"); kind {
	case "rule added":
		e.rules[1] = slices.Insert(rules, at, w.rule())
		return kind
	case "rule removed":
		e.rules[1] = slices.Delete(rules, at, at+1)
		return kind
	case "rule replaced":
		*r = w.rule()
	case "key":
		r.key = cmp.Or(w.maybe(2, w.key(r.form)), "")
	case "count":
		r.n = 1 + w.IntN(3)
	case "evidence":
		r.a = w.longer(r.a)
		if r.form == "require" {
			r.form = "or"
		}
	case "list":
		r.b = w.longer(r.b)
	case "spoilers":
		r.c = w.longer(r.c)
		if w.IntN(3) == 0 && r.form != "since" {
			r.c = nil
		}
	case "exception":
		r.unless = w.exception(r.form, 2)
	case "word":
		other := w.rule()
		if other.form == r.form {
			r.word = other.word
		}
	case "map":
		if len(w.of.maps) > 0 {
			e.maps[1] = [][]string{nil, {w.pick(w.of.maps...)}, append(slices.Clip(e.maps[0]), w.pick(w.of.maps...))}[w.IntN(3)]
		}
		if !slices.Equal(e.maps[0], e.maps[1]) {
			return kind
		}
	}
	switch {
	case kind == "net" && e.nets[1] != nil:
		e.nets[1] = w.flow()
		return kind
	case kind == "default" && w.IntN(3) == 0:
		e.deny[1] = !e.deny[1]
		return kind
	case r.String() == was.String():
		return ""
	}
	return kind
}

// longer adds a call to the list or removes one.
func (w *scribe) longer(list []string) []string {
	if len(list) > 1 && w.IntN(3) == 0 {
		return list[:1]
	}
	if one := w.pick(w.names...); !slices.Contains(list, one) {
		return append(slices.Clip(list), one)
	}
	return list
}

// text returns the rules of a side.
func (e *edit) text(side int) string {
	lines := slices.Clone(e.maps[side])
	for _, r := range e.rules[side] {
		lines = append(lines, r.String())
	}
	return strings.Join(append(lines, "shadow block nothing\n"), "\n")
}

func (e *edit) String() string {
	return fmt.Sprintf("%s, deny %v, servers %v\n%s%s--\n%s%s", e.kind, e.deny, e.tools != nil, e.text(0), e.nets[0], e.text(1), e.nets[1])
}

// forms returns the forms of the rules that only one of the policies has.
func (e *edit) forms() []string {
	var out []string
	for i, rules := range e.rules {
		if i == 0 && e.nets[0].String() != e.nets[1].String() {
			out = append(out, "net")
		}
		for _, r := range rules {
			same := func(o written) bool { return o.String() == r.String() }
			form := r.form
			switch {
			case strings.HasPrefix(r.key, " with"), strings.HasPrefix(r.key, " for"):
				form += ", keyed"
			}
			if !slices.ContainsFunc(e.rules[1-i], same) && !slices.Contains(out, form) {
				out = append(out, form)
			}
		}
	}
	return out
}

// calls returns the calls of all tools with all arguments that the rules distinguish.
func (e *edit) calls() []gate.Call {
	text := e.text(0) + e.text(1)
	var more []string
	switch {
	case strings.Contains(text, "of amount"):
		more = []string{`"amount":0`, `"amount":1`, `"amount":1.5`, `"amount":2`}
	case strings.Contains(text, "in a row"):
		more = []string{`"n":1`}
	}
	var calls []gate.Call
	tools := []string{"other"}
	for _, t := range e.tools {
		tools = append(tools, t.Name)
	}
	if e.tools == nil {
		tools = append(tools, "a", "b", "c")
	}
	for _, tool := range tools {
		for _, members := range e.of.args {
			for _, m := range append([]string{""}, more...) {
				args := strings.Trim(members+","+m, ",")
				calls = append(calls, gate.Call{Tool: tool, Also: e.also(tool), Args: []byte("{" + args + "}")})
			}
		}
	}
	return calls
}
