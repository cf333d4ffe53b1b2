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

// net is a [Net] prepared for decisions. It is immutable.
type net struct {
	Net   // private copy
	index int
	print string // fingerprint of the structure and the maps

	net             petri.Net // its transitions have the order of Net.Transitions
	lasting         [][]petri.Arc
	progress        []bool // transitions that a weak name cannot fire
	structural      []int  // transitions without tools, except timed ones
	timed           []int  // transitions that fire by the clock
	independent     bool   // timed transitions tick independently of each other
	initial         petri.Marking
	start           petri.Marking // initial, at rest
	on, off         *NetData      // initial states, active and inactive
	listing         listing.Listing
	own             naming.Own // names given by the net if it has no Labels; in any case its patterns
	reasoned        []string   // the reason, split at each {key}
	manual          bool       // some transition requires approval
	moving          bool       // time alone changes the net
	spoils          bool       // some transition spoils evidence
	hasEvidence     bool       // some transition has Evidence
	awaits          []string   // names of the calls whose success the net waits for
	spoiledEvidence []string   // awaits, if the net has spoilers

	budget *budget // nil unless the net is a limit from rules

	keys    []int        // distinct key numbers in the policy; empty: the net has no key
	keyOf   []int        // for each transition, index into keys; -1: no key
	written keyvalue.Key // the key with the names for display
	results []int        // transitions whose key is in the result
	mixed   bool         // some of these keys read the arguments, too
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
		n.lasting = append(n.lasting, pt.Consumed())
		n.progress = append(n.progress, n.Labels == nil && !t.WeakProgress && pt.Adds())
		n.manual = n.manual || t.Manual
		n.spoils = n.spoils || t.Spoils
		n.hasEvidence = n.hasEvidence || t.Evidence
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
		n.spoiledEvidence = n.listing.Evidence()
	}
	n.own.Patterns = n.listing.Patterns()
	if n.Labels == nil && len(n.Maps) > 0 {
		n.own.Maps = naming.NewMapping(n.Maps)
	}
	n.print = fingerprint.Net(&n.Net)
	n.budget = n.findBudget()
	n.on, n.off = n.newInitialState(true), n.newInitialState(false)
	return n, nil
}
