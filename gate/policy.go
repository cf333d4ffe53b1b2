package gate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate/internal/fingerprint"
	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// PolicyOptions are the options that the nets of a policy share. The zero value is ready to use.
type PolicyOptions struct {
	Deny   bool // default: deny; calls that no active net knows are refused
	Shadow bool // all nets and the default are in shadow mode
	Static bool // no net can be switched on or off at run time

	// AskDoubts makes a person decide about a call that a net blocks only because the call possibly
	// has a name: see [Block.Doubt]. If approved, the call is decided without that name.
	AskDoubts bool

	// Labels are labels of calls in addition to those of the nets. They are needed if no net has
	// labels and a caller asks for the names of a call.
	Labels []*Labels

	// Keys is the maximum number of values with a state of their own in a net with a key. A call
	// that would add another one is refused. 0: 10,000.
	Keys int

	// Ignored are arguments that are not part of the identity of calls: nets that count equal calls
	// in a row do not compare them, and an approval also applies to calls with other values of
	// them.
	Ignored []Ignored
}

// defaultKeys is the default of [PolicyOptions.Keys].
const defaultKeys = 10_000

// Policy is an immutable set of nets that decide together. It is safe for concurrent use.
type Policy struct {
	nets   []*net
	byName map[string]*net
	merged []Merge
	deny   bool
	shadow bool // the whole policy is in shadow mode
	static bool // the whole policy is static
	asks   bool // see [PolicyOptions.AskDoubts]
	print  string

	timed []int // nets that move by the clock
	rows  bool  // some net counts equal calls in a row

	advisory bool            // some net is advisory
	awaits   map[string]bool // names of the calls whose success nets wait for
	parts    []part          // parts of the commands that give those names

	keys      keyvalue.Set // keys of the nets
	keyed     listing.Set  // nets with a key
	results   bool         // some net reads results
	maxValues int          // maximum number of values in one net
	givenMax  int          // most as given in the options

	givenIgnored []Ignored           // ignored arguments as given in the options
	ignored      map[string][]string // ignored arguments by tool name

	labels    []*Labels      // distinct labels of the nets and the options
	successes []Condition    // conditions of the labels
	names     *naming.Naming // naming of calls
	ids       func() []NetID // identities of the nets
	index     listing.Index  // nets that might apply to a call
}

// A Merge is a statement that repeats an earlier one; both become one net with one budget.
type Merge struct {
	Net          string
	First, Again Position
}

// NewPolicy checks the nets and returns a policy. A non-nil error is an [ErrorList].
//
// Equal nets with Labels become one (see [Policy.Merged]), and unequal ones with the same name get
// the suffixes "#2", "#3" and so on. Two other nets with the same name are an error.
func NewPolicy(nets []Net, o PolicyOptions) (*Policy, error) {
	p := &Policy{asks: o.AskDoubts, deny: o.Deny, shadow: o.Shadow, static: o.Static, byName: make(map[string]*net, len(nets))}
	errs := p.addNets(nets)
	if o.Keys < 0 {
		errs = append(errs, &NetError{Msg: fmt.Sprintf("a net with a key is to keep %d values", o.Keys), Hint: "0 is 10,000"})
	}
	p.collect(nets, o)
	p.setIgnored(o.Ignored)
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
	p.readKeys()
	p.names = newNaming(maps, p.enforcedFirst())
	p.index = newIndex(p.names, p.nets)
	p.successes = p.Successes()
	p.print = p.fingerprint(maps)
	p.readParts()
	p.ids = sync.OnceValue(p.readIDs)
	return p, nil
}

// collect stores the distinct labels of the nets, in order, followed by those of the options.
func (p *Policy) collect(nets []Net, o PolicyOptions) {
	add := func(l *Labels) {
		if l != nil && !slices.Contains(p.labels, l) {
			p.labels = append(p.labels, l)
		}
	}
	for i := range nets {
		add(nets[i].Labels)
	}
	for _, l := range o.Labels {
		add(l)
	}
}

// Maps returns the maps that label calls, in order.
func (p *Policy) Maps() []Map {
	var maps []Map
	for _, l := range p.labels {
		maps = append(maps, l.Maps...)
	}
	return maps
}

// Options returns the options of the policy, including all labels, for building a policy from a
// subset of its nets.
func (p *Policy) Options() PolicyOptions {
	return PolicyOptions{AskDoubts: p.asks, Deny: p.deny, Shadow: p.shadow, Static: p.static, Labels: slices.Clone(p.labels), Keys: p.givenMax, Ignored: slices.Clone(p.givenIgnored)}
}

// enforcedFirst returns the nets with those in shadow mode last, so that the latter do not affect
// the order of the names of a call.
func (p *Policy) enforcedFirst() []*net {
	enforced := slices.DeleteFunc(slices.Clone(p.nets), func(n *net) bool { return n.Shadow })
	return append(enforced, slices.DeleteFunc(slices.Clone(p.nets), func(n *net) bool { return !n.Shadow })...)
}

// addNets compiles the nets, merges equal statements and makes the names of the nets unique.
func (p *Policy) addNets(nets []Net) (errs ErrorList) {
	written := make(map[string]bool) // names of hand-written nets
	for _, n := range nets {
		if n.Labels == nil {
			written[n.Name] = true
		}
	}
	equal, seen := make(map[string]*net), make(map[string]bool)
	for _, def := range nets {
		if def.Labels == nil && seen[def.Name] {
			errs = append(errs, &NetError{Net: def.Name, Msg: "two nets have this name", Rule: def.Rule})
		}
		seen[def.Name] = def.Labels == nil || seen[def.Name]
		def.Shadow, def.Static = def.Shadow || p.shadow, def.Static || p.static
		n, es := compile(def)
		if errs = append(errs, es...); len(es) > 0 {
			continue
		}
		if def.Labels != nil {
			key := fmt.Sprint(n.Name, "\x00", n.print, "\x00", n.Because, "\x00", n.Reason, "\x00", n.Shadow)
			if first := equal[key]; first != nil {
				p.merged = append(p.merged, Merge{Net: first.Name, First: first.Rule, Again: def.Rule})
				continue
			}
			equal[key] = n
			n.Name = p.freeName(n.Name, written)
		}
		n.index = len(p.nets)
		p.nets = append(p.nets, n)
		p.byName[n.Name] = n
		p.rows, p.advisory = p.rows || n.Row, p.advisory || n.Advisory
		for _, name := range n.awaits {
			if p.awaits == nil {
				p.awaits = make(map[string]bool)
			}
			p.awaits[name] = true
		}
		if n.moving {
			p.timed = append(p.timed, n.index)
		}
	}
	return errs
}

// freeName returns name, or name#2, name#3 and so on if it is taken.
func (p *Policy) freeName(name string, written map[string]bool) string {
	free := name
	for i := 2; p.byName[free] != nil || written[free]; i++ {
		free = fmt.Sprintf("%s#%d", name, i)
	}
	return free
}

// fingerprint returns the fingerprint of everything that determines decisions.
func (p *Policy) fingerprint(maps []Map) string {
	f := fingerprint.Policy{AskDoubts: p.asks, Maps: maps, Successes: p.successes, Deny: p.deny, Shadow: p.shadow, Ignored: p.fingerprintIgnored()}
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

// Merged lists the statements that repeat an earlier one.
func (p *Policy) Merged() []Merge { return p.merged }

// Shadow reports whether the whole policy, including its default, is in shadow mode.
func (p *Policy) Shadow() bool { return p.shadow }

// Fingerprint returns the hexadecimal SHA-256 of everything that determines decisions: the nets,
// the maps, the default and the ignored arguments. Of Go functions, it covers only their presence.
func (p *Policy) Fingerprint() string { return p.print }

// A NetInfo describes one net of a policy. It must not be modified.
type NetInfo struct {
	Net                // as given, but with its name in the policy
	Fingerprint string // of its structure and its maps
}

// Nets describes the nets, in order.
func (p *Policy) Nets() []NetInfo {
	infos := make([]NetInfo, len(p.nets))
	for i, n := range p.nets {
		infos[i] = NetInfo{Net: n.Net, Fingerprint: n.print}
	}
	return infos
}
