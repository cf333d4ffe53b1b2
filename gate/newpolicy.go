package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/gate/internal/fingerprint"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
)

// NewPolicy checks the nets and returns a policy. A non-nil error is an [ErrorList].
//
// Identical nets with Labels are merged (see [Policy.Merged]). A net with Labels whose name is
// already taken gets the suffix "#2", "#3" and so on. Two nets without Labels that have the same
// name are an error.
func NewPolicy(nets []Net, o PolicyOptions) (*Policy, error) {
	p := &Policy{asks: o.AskDoubts, deny: o.Deny, shadow: o.Shadow, static: o.Static, netTable: netTable{byName: make(map[string]*net, len(nets)), awaits: make(map[string]bool)}}
	errs := p.add(nets, p.shadow, p.static)
	if o.Keys < 0 {
		errs = append(errs, &NetError{Msg: fmt.Sprintf("a net with a key cannot keep %d values", o.Keys), Hint: "use 0 for the default of 10,000"})
	}
	p.labels, p.ignored = distinctLabels(nets, o.Labels), newIgnoredArguments(o.Ignored)
	maps := p.Maps()
	for _, m := range maps {
		if msg := m.Fault(); msg != "" {
			errs = append(errs, &NetError{Msg: msg, Rule: m.Rule})
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	p.maxValues, p.givenMax = cmp.Or(o.Keys, defaultKeys), o.Keys
	p.netKeys = newNetKeys(p.nets)
	p.names = newNaming(maps, p.enforcedFirst())
	p.index = newIndex(p.names, p.nets)
	p.successes = p.Successes()
	p.print = p.fingerprint(maps)
	p.readParts()
	p.ids = sync.OnceValue(p.readIDs)
	return p, nil
}

// distinctLabels returns the distinct labels of the nets, in order, followed by the labels in
// others.
func distinctLabels(nets []Net, others []*Labels) (all []*Labels) {
	add := func(l *Labels) {
		if l != nil && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for i := range nets {
		add(nets[i].Labels)
	}
	for _, l := range others {
		add(l)
	}
	return all
}

// enforcedFirst returns the nets in order, but with the nets in shadow mode at the end, so that
// these do not affect the order of a call's names.
func (t *netTable) enforcedFirst() []*net {
	enforced := slices.DeleteFunc(slices.Clone(t.nets), func(n *net) bool { return n.Shadow })
	return append(enforced, slices.DeleteFunc(slices.Clone(t.nets), func(n *net) bool { return !n.Shadow })...)
}

// add compiles the nets and makes their names unique. It merges nets that come from repeated
// statements of the rules.
func (t *netTable) add(nets []Net, shadow, static bool) (errs ErrorList) {
	written := make(map[string]bool) // names of hand-written nets
	for _, n := range nets {
		if n.Labels == nil {
			written[n.Name] = true
		}
	}
	equal, seen := make(map[string]*net), make(map[string]bool)
	for _, def := range nets {
		if def.Labels == nil && seen[def.Name] {
			errs = append(errs, &NetError{Net: def.Name, Msg: "another net already has this name", Rule: def.Rule})
		}
		seen[def.Name] = def.Labels == nil || seen[def.Name]
		def.Shadow, def.Static = def.Shadow || shadow, def.Static || static
		n, es := compile(def)
		if errs = append(errs, es...); len(es) > 0 {
			continue
		}
		if def.Labels != nil {
			key := fmt.Sprint(n.Name, "\x00", n.print, "\x00", n.Because, "\x00", n.Reason, "\x00", n.Shadow)
			if first := equal[key]; first != nil {
				t.merged = append(t.merged, Merge{Net: first.Name, First: first.Rule, Again: def.Rule})
				continue
			}
			equal[key] = n
			n.Name = t.freeName(n.Name, written)
		}
		n.index = len(t.nets)
		t.nets = append(t.nets, n)
		t.byName[n.Name] = n
		t.rows, t.advisory = t.rows || n.Row, t.advisory || n.Advisory
		for _, name := range n.awaits {
			t.awaits[name] = true
		}
		if n.moving {
			t.timed = append(t.timed, n.index)
		}
	}
	return errs
}

// freeName returns name if it is not taken, and otherwise name#2, name#3 and so on.
func (t *netTable) freeName(name string, written map[string]bool) string {
	free := name
	for i := 2; t.byName[free] != nil || written[free]; i++ {
		free = fmt.Sprintf("%s#%d", name, i)
	}
	return free
}

// fingerprint returns a hash of everything that determines decisions.
func (p *Policy) fingerprint(maps []Map) string {
	f := fingerprint.Policy{AskDoubts: p.asks, Maps: maps, Successes: p.successes, Deny: p.deny, Shadow: p.shadow, Ignored: p.ignored.unusual()}
	if p.keys.Len() > 0 && p.maxValues != defaultKeys {
		f.Keys = p.maxValues
	}
	f.Nets = make([]fingerprint.NetOfPolicy, len(p.nets))
	for i, n := range p.nets {
		f.Nets[i] = fingerprint.NetOfPolicy{
			Name: n.Name, Print: n.print, Because: n.Because, Reason: n.Reason, Shadow: n.Shadow,
			Priority: n.Priority, Advisory: n.Advisory, Recovery: n.Recovery,
		}
	}
	return f.Print()
}

// readParts fills p.parts from the policy's map statements (see [Map]). It uses each command that
// has at least three words and whose success a net waits for.
func (p *Policy) readParts() {
	for _, m := range p.Maps() {
		command, runs := strings.CutPrefix(m.Source, "runs ")
		words := strings.Fields(strings.TrimPrefix(command, "exactly "))
		if m.Reader != nil && p.awaits[m.As] && runs && len(words) > 2 {
			p.parts = append(p.parts, part{name: m.As, first: []byte(words[0]), other: []byte(words[1])})
		}
	}
}

// newNaming returns a naming with the names and patterns of the nets that use the policy's labels.
func newNaming(maps []Map, nets []*net) *naming.Naming {
	g := naming.New(maps)
	for _, n := range nets {
		if n.Labels == nil {
			continue
		}
		n.listing.Register(g)
		for i := range n.Phases {
			g.Exempt(n.Phases[i].Tools)
		}
	}
	return g
}

// newIndex returns an index of the nets that might apply to a call. A net that names calls itself,
// counts consecutive identical calls or has phases might apply to every call.
func newIndex(g *naming.Naming, nets []*net) listing.Index {
	x := listing.NewIndex(len(nets), len(g.Patterns()))
	for _, n := range nets {
		tools, patterns := n.own.Maps.Tools()
		if n.Labels == nil && (n.Mapper != nil || len(n.own.Patterns) > 0 || patterns) || n.Row || len(n.Phases) > 0 {
			x.Always(n.index)
		} else {
			x.Add(n.index, &n.listing, tools)
		}
	}
	return x
}
