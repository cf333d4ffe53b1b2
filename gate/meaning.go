package gate

import (
	"github.com/petrigate/petrigate/gate/naming"
)

// A Meaning lists a net's transitions for each of a call's names, whether or not they are enabled.
type Meaning struct {
	Net  int // index of the net in the policy
	Asks []Asked
}

// Asked lists the net's transitions for one of the call's names.
type Asked struct {
	Transitions []int // transitions that list the name and do not exempt the call, in declaration order
	Free        bool
	Weak        bool // whether the name is weak: it can cause a refusal of the call, but the call's success does not count for it; see [Name]
}

// Meaning returns a [Meaning] of c for each net that lists any of its names, in policy order. It
// includes inactive nets. It is intended for planning; use [Session.Decide] to make decisions.
func (p *Policy) Meaning(c Call) []Meaning {
	j := &p.Prepare(c).judgement
	var all []Meaning
	for _, n := range p.nets {
		ls, ok := j.labels, true
		if n.Labels == nil {
			ls, ok = n.own.Labels(j.call, j.tools)
		}
		if !ok {
			continue
		}
		if asks := n.asks(ls); len(asks) > 0 {
			all = append(all, Meaning{Net: n.index, Asks: asks})
		}
	}
	return all
}

// asks returns an [Asked] for each of the given names that n lists.
func (n *net) asks(ls []naming.Label) []Asked {
	var asks []Asked
	spared := n.listing.Spared(ls)
	for i := range ls {
		if lists, free := n.listing.Lookup(&ls[i], spared); free || len(lists) > 0 {
			asks = append(asks, Asked{Transitions: lists, Free: free, Weak: ls[i].Weak})
		}
	}
	return asks
}

// Why reports whether c gets the given name from a map statement with a Reader; see [Map]. Why
// relies on the Reader alone, although a name can be uncertain for other reasons, too. It ignores
// strings that the Reader fails to read.
//
// The Doubt explains why the name is uncertain, or why the success of c would not count for it. If
// c does not get the name but resembles the map statement's pattern, the Doubt describes the
// missing part. In all other cases, it is empty.
func (p *Policy) Why(c Call, name string) (Doubt, Found) {
	j := &p.Prepare(c).judgement
	return p.names.Why(j.call, j.tools, name)
}

// Names returns all names of a call: the policy's labels, followed by the names that individual
// nets add. It is as expensive as a decision.
func (p *Policy) Names(c Call) []Name {
	j := &p.Prepare(c).judgement
	ls := j.labels
	for _, n := range p.nets {
		if n.Labels == nil && n.own.Adds() {
			own, _ := n.own.Labels(j.call, j.tools)
			ls = naming.Merge(ls, own)
		}
	}
	return naming.Names(ls)
}

// Unproved returns the names that map statements (see [Map]) certainly give to c although its
// success does not count for them. It considers only names that some net waits for.
func (p *Policy) Unproved(c Call) (names []string) {
	if len(p.awaits) == 0 {
		return nil
	}
	for _, l := range p.Prepare(c).judgement.labels {
		if l.Near && p.awaits[l.Text] {
			names = append(names, l.Text)
		}
	}
	return names
}
