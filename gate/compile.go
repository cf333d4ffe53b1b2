package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/fingerprint"
	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/internal/petri"
)

// net is a [Net] prepared for decisions. It never changes.
type net struct {
	Net   // a copy that nobody else holds
	index int
	print string // fingerprint of structure and maps

	net        petri.Net // its transitions stand in the order of Net.Transitions
	lasting    [][]petri.Arc
	progress   []bool // transitions for which a weak name is not enough
	structural []int  // without tools, but for those that are timed
	timed      []int  // fire by the clock
	alone      bool   // every timed transition ticks as if it were alone
	initial    petri.Marking
	start      petri.Marking // at rest
	listing    listing.Listing
	own        naming.Own // without Labels, the names that it gives; with or without, its patterns
	reasoned   []string   // the reason, as what is around each {key}
	manual     bool       // a transition asks a person
	moving     bool       // time alone changes the net
	spoils     bool       // a transition spoils evidence
	evidence   []string   // the names of the calls that are evidence for a net that has spoilers

	keys    []int        // the numbers of its keys in the policy, each once; none: it has no key
	keyOf   []int        // by transition: which of keys; -1: it has none
	written keyvalue.Key // the key under the names by which it is shown
	results []int        // the transitions whose key is in the result
	mixed   bool         // one of them reads the arguments too
}

// compile checks and prepares one net.
func compile(def Net) (*net, ErrorList) {
	n := &net{Net: copyNet(def)}
	if errs := n.Check(); len(errs) > 0 {
		return nil, errs
	}
	n.net, n.initial = n.Structure()
	n.structural = n.Structural()
	for i := range n.Transitions {
		t, pt := &n.Transitions[i], &n.net.Transitions[i]
		n.lasting = append(n.lasting, pt.Lasting())
		n.progress = append(n.progress, n.Labels == nil && !t.WeakProgress && pt.Adds())
		n.manual = n.manual || t.Manual
		if t.Every > 0 {
			n.timed = append(n.timed, i)
		}
	}
	n.moving = len(n.timed) > 0 || n.Sum != nil && n.Sum.Every > 0
	n.reasoned = strings.Split(n.Reason, "{key}")
	n.start = slices.Clone(n.initial)
	n.advance(n.start, nil)
	n.own.Mapper, n.own.First = n.Mapper, n.MatchFirst
	n.prepareClock()
	n.gatherEvidence()
	n.listing = listing.New(&n.Net)
	n.own.Patterns = n.listing.Patterns()
	if n.Labels == nil && len(n.Maps) > 0 {
		n.own.Maps = naming.NewMapping(n.Maps)
	}
	n.print = fingerprint.Net(&n.Net)
	return n, nil
}

// copyNet returns a copy of n that shares only functions with it.
func copyNet(n Net) Net {
	n.Places = slices.Clone(n.Places)
	n.Terminal = slices.Clone(n.Terminal)
	n.Free, n.Key = slices.Clone(n.Free), slices.Clone(n.Key)
	n.Maps = slices.Clone(n.Maps)
	n.Phases = slices.Clone(n.Phases)
	for i := range n.Phases {
		n.Phases[i].Tools = slices.Clone(n.Phases[i].Tools)
	}
	if n.Sum != nil {
		sum := *n.Sum
		n.Sum = &sum
	}
	n.Initial, n.Recovery = maps.Clone(n.Initial), maps.Clone(n.Recovery)
	n.Transitions = slices.Clone(n.Transitions)
	for i := range n.Transitions {
		t := &n.Transitions[i]
		t.Inputs, t.Outputs = slices.Clone(t.Inputs), slices.Clone(t.Outputs)
		t.Tools, t.Unless, t.Key = slices.Clone(t.Tools), slices.Clone(t.Unless), slices.Clone(t.Key)
	}
	if n.Cause == "" {
		n.Cause = CauseNet
	}
	return n
}
