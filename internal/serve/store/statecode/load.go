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

	// Of a part that was written under another policy, or while other nets were
	// active: what became of its nets, the rows that are none any more, and whether
	// the others have changed.
	Kept []gate.Kept
	Gone []string
	Anew bool
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
	d := decoder{of: fmt.Sprintf("session %q", name)}
	d.object("the part", data, func(key string, value []byte) bool {
		switch key {
		case "principal", "since", "owner", "writer", "ended", "about":
			return d.member(key, value)
		case "calls":
			d.list("the open calls", value, func([]byte) { d.info.Open++ })
		}
		return true
	})
	return d.info, d.err
}

func (c *Codec) read(of string, scope gate.Scope, data []byte, values map[string][]byte) (Loaded, error) {
	if version, _ := rawjson.Member(data, "v"); string(version) != "1" {
		return Loaded{}, fmt.Errorf("%s: its form is %.20q, and this program knows form 1 only: a newer one wrote it, or it is damaged", of, version)
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
	l := Loaded{State: d.state, Info: d.info}
	switched := false
	for i := range d.Codec.nets {
		n, data := &d.Codec.nets[i], d.state.Nets[i]
		if to, known := c.byName[n.name]; known && n.scope == scope && data.Active != c.nets[to].start.Active {
			switched, l.Anew = true, l.Anew || data.Values.Len() > 0
		}
	}
	if d.taken || switched {
		c.adopt(&l, scope, values)
	}
	return l, nil
}

// adopt takes over a part that was written under another policy.
func (c *Codec) adopt(l *Loaded, scope gate.Scope, values map[string][]byte) {
	l.State, l.Kept = c.policy.Adopt(l.State, gate.AdoptOptions{Active: c.active})
	l.Kept = slices.DeleteFunc(l.Kept, func(k gate.Kept) bool {
		i, known := c.byName[k.Net]
		return known && c.nets[i].scope != scope
	})
	for row := range values {
		name, _, _ := cutRow(row)
		i, known := c.byName[name]
		if !known || c.nets[i].scope != scope || l.State.Nets[i].Values.Len() == 0 {
			l.Gone = append(l.Gone, row)
		}
	}
	slices.Sort(l.Gone)
}

// before returns a codec of the policy under which a part was written, as far as that
// matters: the nets of c that have their state in other parts, or have it in this one, and
// one for each net that c has not, or has otherwise.
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
		i, known := c.byName[string(name)]
		print, _ := rawjson.Member(value, "print")
		_, shadow := rawjson.Member(value, "shadow")
		switch {
		case known && c.nets[i].scope != scope: // it was in this part, and is in another now
		case known && string(print) == `"`+c.nets[i].print+`"`:
			n := infos[i].Net
			n.Shadow = shadow
			nets = append(nets, n)
		default:
			gone[string(name)] = true
			nets = append(nets, standIn(string(name), scope, shadow))
		}
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

// standIn returns a net for one that is not there any more.
func standIn(name string, scope gate.Scope, shadow bool) gate.Net {
	return gate.Net{
		Name: name, Scope: scope, Shadow: shadow, Places: []string{"moved"},
		Transitions: []gate.Transition{{Name: "any", Inputs: []string{"moved"}, Outputs: []string{"moved"}, Tools: gate.Tools("any"), Observe: true, Spoils: true}},
	}
}
