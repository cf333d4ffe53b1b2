package statecode

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Loaded is a part as it was read.
type Loaded struct {
	State *gate.State // of which the nets of other parts are at their start
	Info  Info        // of a session

	// Processes are those that admitted the open calls of a session, by their numbers; empty: it
	// is not known.
	Processes map[uint64]string

	// Of a part that was written under another policy, or while other nets were
	// active: what became of its nets, the rows that are none any more, and whether
	// the others have changed.
	Kept []gate.Kept
	Gone []string
	Anew bool

	// Same says that the part was written under the policy, while the same nets were active.
	Same bool
}

// Session reads the part of a session.
func (c *Codec) Session(name string, data []byte, values map[string][]byte) (Loaded, error) {
	return c.read(fmt.Sprintf("session %q", name), gate.ScopeSession, data, values)
}

// Shared reads the part of what the sessions of a principal share, or all.
func (c *Codec) Shared(scope gate.Scope, name string, data []byte, values map[string][]byte) (Loaded, error) {
	of := "what all sessions share"
	if scope == gate.ScopePrincipal {
		of = fmt.Sprintf("what the sessions of %q share", name)
	}
	return c.read(of, scope, data, values)
}

// ReadInfo reads what is kept of a session beside its nets, whatever its policy.
func ReadInfo(name string, data []byte) (Info, error) {
	i, _, err := ReadOpen(name, data)
	return i, err
}

func (c *Codec) read(of string, scope gate.Scope, data []byte, values map[string][]byte) (Loaded, error) {
	if version, _ := rawjson.Member(data, "v"); string(version) != "1" && string(version) != "2" {
		return Loaded{}, fmt.Errorf("%s: its form is %.20q, and this program knows forms 1 and 2: a newer one wrote it, or it is damaged", of, version)
	}
	policy, _ := rawjson.Member(data, "policy")
	d := decoder{Codec: c, of: of, scope: scope}
	if print, _ := rawjson.String(policy); print != c.print {
		before, err := c.before(of, scope, data)
		if err != nil {
			return Loaded{}, err
		}
		d.Codec, d.taken = before, true
	}
	d.state = d.policy.NewState(d.active)
	if d.part(data, values, scope == gate.ScopeSession); d.err != nil {
		return Loaded{}, d.err
	}
	l := Loaded{State: d.state, Info: d.info, Processes: d.processes}
	switched := false
	for i := range d.Codec.nets {
		n, data := &d.Codec.nets[i], d.state.Nets[i]
		if to, known := c.byName[n.name]; known && n.scope == scope && data.Active != c.nets[to].start.Active {
			switched, l.Anew = true, l.Anew || data.Values.Len() > 0
		}
	}
	if l.Same = !d.taken && !switched; !l.Same {
		c.adopt(&l, scope, values)
	}
	return l, nil
}

// adopt takes over a part that was written under another policy.
func (c *Codec) adopt(l *Loaded, scope gate.Scope, values map[string][]byte) {
	l.State, l.Kept = c.policy.Adopt(l.State, gate.AdoptOptions{Active: c.active, Reset: c.reset})
	l.Kept = slices.DeleteFunc(l.Kept, func(k gate.Kept) bool {
		i, known := c.byName[k.Net]
		return known && c.nets[i].scope != scope
	})
	for row := range values {
		name, key, _ := cutRow(row)
		i, known := c.byName[name]
		if !known || c.nets[i].scope != scope || l.State.Nets[i].Values.Get(key) == nil {
			l.Gone = append(l.Gone, row)
		}
	}
	for _, k := range l.Kept {
		l.Anew = l.Anew || len(values) > 0 && (k.Fate == gate.Carried || k.From != "")
	}
	slices.Sort(l.Gone)
}

// before returns a codec of the policy under which a part was written, as far as that
// matters: the nets of c that have their state in other parts, those that are written in
// this one, and one in the place of each that c does not have.
func (c *Codec) before(of string, scope gate.Scope, data []byte) (*Codec, error) {
	if err := rawjson.Check(data, maxDepth); err != nil {
		return nil, fmt.Errorf("%s: it is no JSON: %w", of, err)
	}
	var nets []gate.Net
	infos := c.policy.Nets()
	for i := range infos {
		if infos[i].Scope != scope {
			nets = append(nets, infos[i].Net)
		}
	}
	gone := map[string]bool{}
	stored, _ := rawjson.Member(data, "nets")
	rawjson.Members(stored, func(name, value []byte, _ int) bool {
		if i, known := c.byName[string(name)]; known && c.nets[i].scope != scope {
			return true // it was in this part, and is in another now
		}
		n, same := c.netBefore(string(name), value)
		if !same {
			gone[string(name)] = true
			n = standIn(value)
		}
		n.Name, n.Scope = string(name), scope
		_, n.Shadow = rawjson.Member(value, "shadow")
		nets = append(nets, n)
		return true
	})
	o := c.policy.Options()
	o.Shadow = false // which every net says of itself
	p, err := gate.NewPolicy(nets, o)
	if err != nil {
		return nil, fmt.Errorf("%s: its nets cannot be taken over: %w", of, err)
	}
	in := New(p, nil)
	for i := range in.nets {
		in.nets[i].gone = gone[in.nets[i].name]
	}
	return in, nil
}

// netBefore returns the net as which one was written, if c has it, or a limit that differs
// from it in its numbers alone.
func (c *Codec) netBefore(name string, stored []byte) (gate.Net, bool) {
	value, _ := rawjson.Member(stored, "print")
	print, _ := rawjson.String(value)
	same := slices.IndexFunc(c.nets, func(n net) bool { return n.name == name && n.print == print })
	if same < 0 {
		same = slices.IndexFunc(c.nets, func(n net) bool { return n.print == print })
	}
	if same >= 0 {
		return c.policy.Nets()[same].Net, true
	}
	limit, _ := rawjson.Member(stored, "limit")
	return c.limitBefore(limit)
}

// standIn returns a net for one that is not there any more.
func standIn(stored []byte) gate.Net {
	n := gate.Net{
		Places: []string{"moved"}, Labels: &gate.Labels{},
		Transitions: []gate.Transition{{Name: "any", Inputs: []string{"moved"}, Outputs: []string{"moved"}, Tools: gate.Tools("any"), Observe: true, Spoils: true}},
	}
	if _, hand := rawjson.Member(stored, "hand"); hand {
		n.Labels = nil
	}
	return n
}
