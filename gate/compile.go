package gate

import (
	"cmp"
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
	on, off    *NetData      // at its start, active and not
	listing    listing.Listing
	own        naming.Own // without Labels, the names that it gives; with or without, its patterns
	reasoned   []string   // the reason, as what is around each {key}
	manual     bool       // a transition asks a person
	moving     bool       // time alone changes the net
	spoils     bool       // a transition spoils evidence
	earns      bool       // a transition is evidence
	awaits     []string   // the names of the calls whose success the net waits for
	evidence   []string   // the names of the calls that are evidence for a net that has spoilers

	budget *budget // of a limit of rules; nil for others

	keys    []int        // the numbers of its keys in the policy, each once; none: it has no key
	keyOf   []int        // by transition: which of keys; -1: it has none
	written keyvalue.Key // the key under the names by which it is shown
	results []int        // the transitions whose key is in the result
	mixed   bool         // one of them reads the arguments too
}

// compile checks and prepares one net.
func compile(def Net) (*net, ErrorList) {
	n := &net{Net: def.Clone()}
	n.Cause = cmp.Or(n.Cause, CauseNet)
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
		n.spoils = n.spoils || t.Spoils
		n.earns = n.earns || t.Evidence
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
	n.listing = listing.New(&n.Net)
	n.awaits = n.listing.Evidence()
	if n.spoils {
		n.evidence = n.listing.Evidence()
	}
	n.own.Patterns = n.listing.Patterns()
	if n.Labels == nil && len(n.Maps) > 0 {
		n.own.Maps = naming.NewMapping(n.Maps)
	}
	n.print = fingerprint.Net(&n.Net)
	n.budget = n.findBudget()
	n.on, n.off = n.fresh(true), n.fresh(false)
	return n, nil
}
