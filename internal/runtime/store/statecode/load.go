package statecode

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Loaded is a decoded part of a state.
type Loaded struct {
	State *gate.State // the state; nets that belong to other parts are in their initial states
	Info  Info        // facts about the session; set only for a session's part

	// process that admitted each of the session's open calls, keyed by call number; empty if
	// unknown
	Processes map[uint64]string

	// The following fields are set if the part was written under another policy or with other
	// active nets. Kept has an element for each net in the part, which tells whether the net has
	// kept its state. StaleRows lists the value rows to remove (see [Codec.RowName]). RewriteValues
	// is true if the other value rows must be written again.
	Kept          []gate.Kept
	StaleRows     []string
	RewriteValues bool

	// whether the part of the state was written under this policy and with the same active nets
	Same bool
}

// Session decodes the part of a state that belongs to a session.
func (c *Codec) Session(name string, data []byte, values map[string][]byte) (Loaded, error) {
	return c.read(fmt.Sprintf("session %q", name), gate.ScopeSession, data, values)
}

// Shared decodes a part of a state that the sessions of a principal share, or that all sessions
// share.
func (c *Codec) Shared(scope gate.Scope, name string, data []byte, values map[string][]byte) (Loaded, error) {
	of := "the state that all sessions share"
	if scope == gate.ScopePrincipal {
		of = fmt.Sprintf("the state that the sessions of %q share", name)
	}
	return c.read(of, scope, data, values)
}

func (c *Codec) read(of string, scope gate.Scope, data []byte, values map[string][]byte) (Loaded, error) {
	if version, _ := rawjson.Member(data, "v"); string(version) != "1" && string(version) != "2" {
		return Loaded{}, fmt.Errorf("%s: its format is %.20q, but this petrigate supports formats 1 and 2: a newer one wrote it, or it is damaged", of, version)
	}
	policy, _ := rawjson.Member(data, "policy")
	d := decoder{Codec: c, subject: of, scope: scope}
	if print, _ := rawjson.String(policy); print != c.fingerprint {
		before, err := c.oldCodec(of, scope, data)
		if err != nil {
			return Loaded{}, err
		}
		d.Codec, d.otherPolicy = before, true
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
			switched, l.RewriteValues = true, l.RewriteValues || data.Values.Len() > 0
		}
	}
	if l.Same = !d.otherPolicy && !switched; !l.Same {
		c.adopt(&l, scope, values)
	}
	return l, nil
}

// adopt converts a part of a state that was written under another policy or with other active nets.
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
			l.StaleRows = append(l.StaleRows, row)
		}
	}
	for _, k := range l.Kept {
		l.RewriteValues = l.RewriteValues || len(values) > 0 && (k.Fate == gate.Carried || k.From != "")
	}
	slices.Sort(l.StaleRows)
}

// oldCodec returns a codec for a part of a state that was written under another policy. The codec
// has the nets in the part, and those nets of c that belong to other parts. A net in the part that
// cannot be reconstructed from c is replaced by a placeholder.
func (c *Codec) oldCodec(of string, scope gate.Scope, data []byte) (*Codec, error) {
	if err := rawjson.Check(data, maxDepth); err != nil {
		return nil, fmt.Errorf("%s: invalid JSON: %w", of, err)
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
			return true // the net was in this part and is now in another part
		}
		n, same := c.oldNet(string(name), value)
		if !same {
			gone[string(name)] = true
			n = placeholderNet(value)
		}
		n.Name, n.Scope = string(name), scope
		_, n.Shadow = rawjson.Member(value, "shadow")
		nets = append(nets, n)
		return true
	})
	o := c.policy.Options()
	o.Shadow = false // shadow mode is set for each net individually, not for the policy
	p, err := gate.NewPolicy(nets, o)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot keep its nets: %w", of, err)
	}
	in := New(p, nil)
	for i := range in.nets {
		in.nets[i].placeholder = gone[in.nets[i].name]
	}
	return in, nil
}

// oldNet reconstructs a net of the policy that was in force when the part of the state was written.
// It succeeds if c has the same net, or a limit that differs from the net only in its numbers.
// Otherwise, it returns false.
func (c *Codec) oldNet(name string, stored []byte) (gate.Net, bool) {
	value, _ := rawjson.Member(stored, "print")
	print, _ := rawjson.String(value)
	same := slices.IndexFunc(c.nets, func(n net) bool { return n.name == name && n.fingerprint == print })
	if same < 0 {
		same = slices.IndexFunc(c.nets, func(n net) bool { return n.fingerprint == print })
	}
	if same >= 0 {
		return c.policy.Nets()[same].Net, true
	}
	limit, _ := rawjson.Member(stored, "limit")
	return c.oldLimit(limit)
}

// placeholderNet returns a net that stands for a stored net that no longer exists.
func placeholderNet(stored []byte) gate.Net {
	n := gate.Net{
		Places: []string{"moved"}, Labels: &gate.Labels{},
		Transitions: []gate.Transition{{Name: "any", Inputs: []string{"moved"}, Outputs: []string{"moved"}, Tools: gate.Tools("any"), Observe: true, Spoils: true}},
	}
	if _, hand := rawjson.Member(stored, "hand"); hand {
		n.Labels = nil
	}
	return n
}
