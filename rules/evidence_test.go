package rules_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

// TestEarlierCalls checks the meaning of "require A before B" if calls match both A and B: a call
// to B passes only if an earlier call to A has succeeded, and uses up that success. Its own success
// counts for later calls if it is also a call to A.
func TestEarlierCalls(t *testing.T) {
	from, count := soak.Range(t, 400)
	for seed := from; seed < from+uint64(count); seed++ {
		r := rand.New(rand.NewPCG(seed, 29))
		m := newEvidenceModel(r)
		c, err := compileText(m.text())
		if err != nil {
			continue // the same name twice
		}
		p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m.play(t, seed, r, p)
	}
}

func compileText(text string) (*rules.Compiled, error) {
	f, err := rules.Parse("a.rules", []byte(text))
	if err != nil {
		return nil, err
	}
	return rules.Compile(f)
}

// evidenceModel is a model of a single requirement. For each key value, it tracks whether there is
// an unused success.
type evidenceModel struct {
	first  []string
	before string
	once   bool
	earns  string // field in calls to A, or in their results if it begins with "$."; empty if the rule has no key
	waits  string // field in calls to B
	credit map[string]bool
	open   []*watchedCall
}

// watchedCall is a call in flight that may become evidence.
type watchedCall struct {
	ticket  *gate.Ticket
	isFirst bool
	values  []string        // nil to use the values of the result
	void    map[string]bool // values that had unused evidence at some time since the call was admitted
}

func newEvidenceModel(r *rand.Rand) *evidenceModel {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	m := &evidenceModel{first: []string{pick("a", "b", "c", "m", "?", "a*")}, before: pick("a", "b", "m", "?", "b*"), once: r.IntN(4) == 0, credit: map[string]bool{}}
	if r.IntN(2) == 0 {
		m.first = append(m.first, pick("a", "b", "c", "m"))
	}
	switch r.IntN(4) {
	case 0:
		m.earns, m.waits = "f", "f"
	case 1:
		m.earns, m.waits = "h", "f"
	case 2:
		m.earns, m.waits = "$.r", "f"
	}
	return m
}

func (m *evidenceModel) text() string {
	text := "map b.f x as m\nrequire " + strings.Join(m.first, " or ") + " before " + m.before
	if m.once {
		text += " once"
	}
	switch m.earns {
	case "f":
		text += " with same f"
	case "h":
		text += " with same h as f"
	case "$.r":
		text += " with same f as result.$.r"
	}
	return text
}

// isFirst reports whether a call is a call to A, and isBefore whether it is a call to B. A pattern
// excludes names that the statement requires by name, if the call certainly has them.
func (m *evidenceModel) isFirst(names []string) bool {
	return slices.ContainsFunc(m.first, func(n string) bool { return named(n, names) })
}

func (m *evidenceModel) isBefore(names []string) bool {
	if strings.ContainsAny(m.before, "?*") && slices.Contains(m.first, names[0]) {
		return false
	}
	return named(m.before, names)
}

// named reports whether any of the names equals the name or matches the pattern.
func named(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == name || name == "?" && len(n) == 1 || strings.HasSuffix(name, "*") && strings.HasPrefix(n, name[:1])
	})
}

// argsOf returns arguments and their values by field.
func argsOf(r *rand.Rand) (args string, values map[string]string) {
	values = make(map[string]string)
	var parts []string
	for _, f := range []string{"f", "h"} {
		if v := []string{"x", "y", ""}[r.IntN(3)]; v != "" {
			values[f] = v
			parts = append(parts, fmt.Sprintf("%q:%q", f, v))
		}
	}
	return "{" + strings.Join(parts, ",") + "}", values
}

// play makes random calls and compares each decision with the model.
func (m *evidenceModel) play(t *testing.T, seed uint64, r *rand.Rand, p *gate.Policy) {
	s := gate.NewSession(p, gate.SessionOptions{})
	var log []string
	for range 40 {
		if len(m.open) > 0 && r.IntN(2) == 0 {
			i := r.IntN(len(m.open))
			c := m.open[i]
			m.open = slices.Delete(m.open, i, i+1)
			o := []gate.Outcome{gate.Success, gate.Success, gate.Failure}[r.IntN(3)]
			shown := []string{"x", "y"}[r.IntN(2)]
			c.ticket.End(gate.End{Outcome: o, Result: []byte(fmt.Sprintf(`{"r":%q}`, shown))})
			log = append(log, fmt.Sprintf("end %d %v %s", c.ticket.Number, o, shown))
			if o == gate.Success {
				m.succeed(c, shown)
			}
			continue
		}
		tool := []string{"a", "b", "c"}[r.IntN(3)]
		args, values := argsOf(r)
		want, c := m.admit(tool, values)
		d := s.Decide(gate.Call{Tool: tool, Args: []byte(args)}, nil)
		allow, got := d.(*gate.Allow)
		log = append(log, fmt.Sprintf("call %s %s: %v", tool, args, got))
		if got != want {
			t.Fatalf("seed %d: %v, want %v\n%s\n%s", seed, got, want, m.text(), strings.Join(log, "\n"))
		}
		if got {
			c.ticket = allow.Ticket
			m.open = append(m.open, c)
		}
	}
}

// admit decides a call according to the statement's meaning, and uses up the successes that the
// call needs.
func (m *evidenceModel) admit(tool string, values map[string]string) (ok bool, c *watchedCall) {
	names := []string{tool}
	if tool == "b" && values["f"] == "x" {
		names = append(names, "m")
	}
	if m.isBefore(names) {
		v, has := values[m.waits]
		if m.waits != "" && !has || !m.credit[v] {
			return false, nil
		}
		m.credit[v] = m.once
	}
	c = &watchedCall{isFirst: m.isFirst(names), void: maps.Clone(m.credit)}
	switch v, has := values[m.earns]; {
	case m.earns == "$.r":
	case m.earns == "" || has:
		c.values = []string{v}
	default:
		c.isFirst = false
	}
	return true, c
}

// succeed records a success for the values without an unused success since the call was admitted.
func (m *evidenceModel) succeed(c *watchedCall, shown string) {
	if !c.isFirst {
		return
	}
	values := c.values
	if values == nil {
		values = []string{shown}
	}
	for _, v := range values {
		if c.void[v] {
			continue
		}
		m.credit[v] = true
		for _, other := range m.open {
			other.void[v] = true
		}
	}
}

// TestLeftOutIsNotGated checks that, if the default is deny, a call excluded from a rule's pattern
// passes only if something else allows it.
func TestLeftOutIsNotGated(t *testing.T) {
	for _, text := range []string{
		"require login, pick before *", "require login or pick before *", "require login, pick before ????*",
		"block * after other until login, pick", "require human-approval before * after other until login, pick",
	} {
		for _, allowed := range []bool{false, true} {
			src := text + "\n"
			if allowed {
				src += "allow login, pick\n"
			}
			c, err := compileText(src)
			if err != nil {
				t.Fatal(err)
			}
			p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{Deny: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"login", "pick"} {
				d := gate.NewSession(p, gate.SessionOptions{}).Decide(gate.Call{Tool: tool}, nil)
				r, refused := d.(*gate.Refusal)
				if refused == allowed || refused && r.Kind != gate.KindDefault {
					t.Errorf("%s: %s is refused: %v", src, tool, refused)
				}
			}
		}
	}
}
