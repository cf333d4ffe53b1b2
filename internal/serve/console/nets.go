package console

import (
	"bytes"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy/draw"
	"github.com/petrigate/petrigate/internal/text"
)

// sessionsOffered is the maximum number of open sessions in a list of sessions to choose from. The
// same maximum applies separately to ended sessions.
const sessionsOffered = 50

// netsBody holds the data for the page that shows all nets and for the page about a single net.
type netsBody struct {
	at      netsAddress
	Session string // ID of the displayed session; empty for a new session
	Others  []choice
	Nets    []netRow
	Refuses int // number of nets that currently refuse at least one call
	Maps    []mapRow
	Net     *netPage // nil on the page with all nets
	Then    *snapshot
	Why     *explanation
	Tools   []string
}

// A choice is an option, such as a session, that the user can select. Here reports whether it is
// selected now.
type choice struct {
	Value, Label, Link string
	Here               bool
}

// A netRow is one row in the table of nets.
type netRow struct {
	operator.PolicyNet

	Link    string
	Marking string
	Key     string   // fields of a call that select one of the net's markings; empty if the net has a single marking
	Refuses []string // tools whose calls the net currently refuses; if the net has a key, the tools that it refuses in the default marking
	Unknown string   // why the marking is unknown; empty if it is known
}

// A mapRow describes a map statement of the policy. Such a statement gives an additional name to
// calls whose arguments match.
type mapRow struct{ Tool, Field, Source, As, Rule string }

// nets serves the page with all nets of the policy, or the page of the requested net.
func (c *Console) nets(w http.ResponseWriter, r *http.Request) {
	at := netsAddress{Net: r.FormValue("net"), Session: r.FormValue("session"), At: r.FormValue("at"), Value: r.FormValue("value"), Why: r.FormValue("why")}
	m, ok := c.snapshotAt(w, r, at)
	if !ok {
		return
	}
	b := netsBody{at: at, Session: at.Session, Then: m}
	b.Others = c.choices(at)
	b.Tools = list.Map(m.tools, func(t gate.Call) string { return t.Tool })
	title := "Nets"
	if at.Net == "" {
		b.Nets = c.rows(m, at)
		for i := range b.Nets {
			if len(b.Nets[i].Refuses) > 0 {
				b.Refuses++
			}
		}
		b.Maps = mapsOf(m.policy, -1)
	} else {
		n := slices.IndexFunc(m.policy.Nets(), func(n gate.NetInfo) bool { return n.Name == at.Net })
		if n < 0 {
			c.fail(w, r, http.StatusNotFound, "The policy has no such net: it was reloaded, or the address is wrong.")
			return
		}
		b.Maps = mapsOf(m.policy, n)
		b.Net = c.netPage(m, n, at)
		b.Net.Past = m.stepsAround(at.Net)
		title = at.Net
	}
	if at.Why != "" && m.state != nil {
		b.Why = c.explain(m.state, at.Why)
	}
	c.show(w, r, "nets", title, b)
}

// choices returns the sessions to choose from, most recently used first.
func (c *Console) choices(at netsAddress) (list []choice) {
	all, err := c.options.Proxy.ListSessions()
	if err != nil {
		return nil
	}
	open := map[string]bool{}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b operator.SessionInfo) int { return b.Used.Compare(a.Used) })
	found := at.Session == ""
	for i := range all {
		s := &all[i]
		open[s.ID] = true
		here := s.ID == at.Session
		if i < sessionsOffered || here {
			list = append(list, choice{Value: s.ID, Label: sessionLabel(s), Here: here})
			found = found || here
		}
	}
	offered := 0
	for _, id := range c.history.sessions() {
		if offered < sessionsOffered && !open[id] {
			offered++
			list = append(list, choice{Value: id, Label: id + ", which has ended", Here: id == at.Session})
			found = found || id == at.Session
		}
	}
	if !found {
		list = append(list, choice{Value: at.Session, Label: at.Session, Here: true})
	}
	return list
}

// sessionLabel returns the label that represents a session in a list.
func sessionLabel(s *operator.SessionInfo) string {
	label := s.ID
	if s.Name != "" {
		label = s.Name + " (" + s.ID + ")"
	}
	if len(s.Clients) > 0 {
		label += ", " + text.First(2, s.Clients)
	}
	return label + ", of " + s.Principal
}

// rows returns a table row for each net in the snapshot m, in policy order.
func (c *Console) rows(m *snapshot, at netsAddress) (rows []netRow) {
	known := c.policyNets()
	for i, info := range m.policy.Nets() {
		n := m.nets[i]
		to := at
		to.Net, to.Why = n.Name, ""
		row := rowOf(n, known[n.Name])
		row.Link = to.link()
		if row.Unknown = m.unknown[n.Name]; row.Unknown != "" {
			row.Marking = ""
		} else if n.Active {
			row.Refuses = refusedBy(liveNet(info, n.Marking))
		}
		rows = append(rows, row)
	}
	return rows
}

// liveNet returns a drawing of the net with the marking m. The drawing leaves out the start
// transition, which has no effect after the first call.
func liveNet(info gate.NetInfo, m gate.Marking) draw.Net {
	n := draw.OfNet(info).WithoutStart()
	n.Live(m)
	return n
}

// refusedBy returns the tools whose calls the net currently refuses because it has no enabled
// transition for them. It ignores the allowlists that apply while a place is marked.
func refusedBy(n draw.Net) (calls []string) {
	can := map[string]bool{}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if t.Observe || t.Listed {
			continue
		}
		for _, tool := range t.Tools {
			can[tool] = can[tool] || len(t.Lacks) == 0
			if !slices.Contains(calls, tool) {
				calls = append(calls, tool)
			}
		}
	}
	return slices.DeleteFunc(calls, func(tool string) bool { return can[tool] })
}

// mapsOf returns a row for each map statement that the net with the given index uses. If the index
// is negative, it returns the rows for all map statements.
func mapsOf(p *gate.Policy, net int) (rows []mapRow) {
	seen := map[mapRow]bool{}
	add := func(maps []gate.Map, reads func(string) bool) {
		for i := range maps {
			m := &maps[i]
			row := mapRow{Tool: m.Tool, Field: m.Field, Source: m.Source, As: m.As}
			if m.Rule.Line > 0 {
				row.Rule = m.Rule.String()
			}
			if !seen[row] && reads(m.As) {
				seen[row] = true
				rows = append(rows, row)
			}
		}
	}
	nets := p.Nets()
	for i := range nets {
		if net < 0 || i == net {
			add(nets[i].Maps, func(string) bool { return true })
		}
	}
	add(p.Maps(), func(as string) bool { return net < 0 || mentions(&nets[net], as) })
	return rows
}

// mentions reports whether the net refers to a tool by the given name.
func mentions(n *gate.NetInfo, name string) bool {
	is := func(t gate.Tool) bool { return t.Name == name }
	return slices.Contains(n.Free, name) || slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
		return slices.ContainsFunc(t.Tools, is) || slices.ContainsFunc(t.Unless, is)
	})
}

// A netPage holds the data for the page about a single net and its marking.
type netPage struct {
	netRow

	Net         draw.Net
	SVG         template.HTML
	Transitions []transitionRow
	InFlight    []gate.InFlight
	Spoilers    []gate.InFlight
	Values      []choice // key values that have a marking of their own
	MoreValues  int
	Hashed      bool // whether only the hashes of the key values are known
	Rest        bool // whether the requested key value is missing from Values; the page then shows the default marking
	Past        pastRows
}

// A transitionRow describes a transition in words.
type transitionRow struct {
	draw.Transition

	Takes, Puts string
	Calls       []choice // tools whose calls fire the transition; each links to the explanation of such a call
}

func (c *Console) netPage(m *snapshot, net int, at netsAddress) *netPage {
	info, n := m.policy.Nets()[net], m.nets[net]
	d := &netPage{InFlight: n.InFlight, Spoilers: n.Spoilers, MoreValues: n.More, Hashed: m.state == nil && len(n.Values) > 0, Rest: at.Value != ""}
	d.netRow = rowOf(n, c.policyNets()[n.Name])
	d.Unknown = m.unknown[n.Name]
	labels := c.labels(m, net, at.Session)
	marking := n.Marking
	for i := range n.Values {
		v := &n.Values[i]
		to := at
		to.Value, to.Why = m.valueID(v), ""
		label, known := labels[to.Value]
		if !known {
			label = m.label(v)
		}
		one := choice{Label: label, Link: to.link(), Here: to.Value == at.Value}
		d.Values = append(d.Values, one)
		if one.Here {
			marking, d.InFlight, d.Spoilers, d.Rest = v.Marking, v.InFlight, v.Spoilers, false
		}
	}
	if len(d.Values) > 0 {
		to := at
		to.Value, to.Why = "", ""
		d.Values = append([]choice{{Label: "every other value", Link: to.link(), Here: at.Value == ""}}, d.Values...)
	}
	d.Net = liveNet(info, marking)
	var b bytes.Buffer
	if err := draw.LiveSVG(&b, &d.Net); err == nil { // writing to a buffer never fails
		d.SVG = template.HTML(b.String()) //nolint:gosec // draw escapes all text
	}
	for _, t := range d.Net.Transitions {
		row := transitionRow{Transition: t, Takes: arcs(&d.Net, t, true), Puts: arcs(&d.Net, t, false)}
		for _, tool := range t.Tools {
			to := at
			to.Why = tool
			row.Calls = append(row.Calls, choice{Label: tool, Link: to.link() + "#why"})
		}
		d.Transitions = append(d.Transitions, row)
	}
	return d
}

// policyNets returns the nets of the policy in force, keyed by name.
func (c *Console) policyNets() map[string]operator.PolicyNet {
	nets := map[string]operator.PolicyNet{}
	for _, n := range c.options.Proxy.Nets() {
		nets[n.Name] = n
	}
	return nets
}

// rowOf returns the table row for a net, given its state and its description in the policy in
// force.
func rowOf(n gate.NetState, known operator.PolicyNet) netRow {
	row := netRow{PolicyNet: known, Marking: n.String(), Key: n.Key}
	row.Name, row.Active, row.Shadow = n.Name, n.Active, n.Shadow
	return row
}

// arcs lists the input or output places of the transition. If an arc moves several tokens, their
// number precedes the place.
func arcs(n *draw.Net, t draw.Transition, in bool) string {
	list := t.Out
	if in {
		list = t.In
	}
	var parts []string
	for _, a := range list {
		part := n.Places[a.Place].Name
		if a.Weight > 1 {
			part = strconv.Itoa(a.Weight) + " × " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// An explanation describes how a call without arguments would be decided, and lists the calls that
// must succeed before it would be allowed.
type explanation struct {
	Tool     string
	Decision string // "allow", "ask" or "refuse"
	Reason   string
	Blocks   []blockRow
	Calls    []callRow
	Sentence string
}

// A blockRow names a net that refuses a call or requires an approval.
type blockRow struct{ Net, Rule, Reason string }

// A callRow names a tool that must be called successfully to make the proxy allow the refused call.
// It also lists the nets that mention this tool.
type callRow struct {
	Tool  string
	Rules []blockRow
}

// explain explains how a call to the tool would be decided in the given state. It does not change
// the state.
func (c *Console) explain(state *gate.State, tool string) *explanation {
	p, call := state.Policy(), callOf(state, tool)
	call.Time = c.options.Now()
	known := c.policyNets()
	y := &explanation{Tool: tool}
	take := func(r *gate.Refusal) {
		y.Reason = r.Text
		y.Blocks = list.Map(r.Blocks, func(b gate.Block) blockRow { return blockRow{b.Net, known[b.Net].Rule, b.Reason} })
	}
	decision, _ := p.Decide(state, call, nil)
	switch d := decision.(type) {
	case *gate.Allow:
		y.Decision = "allow"
	case *gate.Ask:
		y.Decision = "ask"
		take(d.Refusal())
	case *gate.Refusal:
		y.Decision = "refuse"
		take(d)
		if c.options.Way == nil {
			break
		}
		way := c.options.Way(state, call, d)
		y.Sentence = way.Sentence
		for _, name := range way.Calls {
			row := callRow{Tool: name}
			for _, m := range p.Meaning(callOf(state, name)) {
				n := p.Nets()[m.Net].Name
				row.Rules = append(row.Rules, blockRow{Net: n, Rule: known[n].Rule})
			}
			y.Calls = append(y.Calls, row)
		}
	}
	return y
}

// callOf returns a call of the tool with the given name or alias, without arguments. If the state
// does not list the tool, only the Tool field of the call is set.
func callOf(state *gate.State, name string) gate.Call {
	for _, t := range state.Tools {
		if t.Tool == name || slices.ContainsFunc(t.Also, func(n gate.Name) bool { return n.Text == name }) {
			return t
		}
	}
	return gate.Call{Tool: name}
}
