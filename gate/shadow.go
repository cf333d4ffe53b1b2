package gate

import (
	"slices"
	"time"
)

// WouldCount counts the calls that passed but would have been refused or asked about
// if no net were in shadow.
type WouldCount struct {
	Refused int
	Asked   int // a person would have been asked
}

// world selects the nets of a judgement, and which of their states it uses.
type world uint8

const (
	acting   world = iota // the nets that enforce
	enforced              // the nets in shadow, had they blocked
	actual                // the nets in shadow, moved by every call if possible
)

// in returns the verdicts of the nets in shadow on the call in that world.
func (j *judgement) in(w world) *judgement {
	k := &judgement{policy: j.policy, call: j.call, state: j.state, tools: j.tools, labels: j.labels, bare: j.bare, offered: j.offered, world: w, row: j.row, known: j.known}
	k.findings, k.room = k.findingRoom[:0], k.choiceRoom[:0]
	for _, s := range j.shadows {
		if w == enforced {
			s = s.enforced()
		}
		k.ask(s)
	}
	return k
}

// enforced returns s in the world in which the nets in shadow block.
func (s subject) enforced() subject {
	s.data = s.data.Shadow.Enforced
	if s.of != nil {
		of := *s.of
		of.base = of.base.Shadow.Enforced
		s.of = &of
	}
	return s
}

// shadow adds to d how an admitted call moves the nets in shadow. It returns their
// verdicts, and the answer that they would have given; nil if they agree.
func (j *judgement) shadow(d *Delta, number uint64) (*judgement, *Refusal) {
	if len(j.shadows) == 0 && !j.policy.shadow {
		return nil, nil
	}
	w, a := j.in(enforced), j.in(actual)
	var had, has Delta
	r := w.enforce(&had, number)
	a.follow(&has, number)
	d.Nets = append(append(d.Nets, w.ticked...), a.ticked...)
	for i := range j.shadows {
		s := &j.shadows[i]
		if s.value() != nil && (i == 0 || j.shadows[i-1].net != s.net) { // nothing moves it at large
			at := subject{net: s.net, data: s.base()}
			at.move(d, &Delta{}, &Delta{}, r, j.call.Time)
		}
		s.move(d, &had, &has, r, j.call.Time)
	}
	if r != nil {
		d.Would = r.Kind
	}
	return w, r
}

// move adds to d how the worlds have moved a net in shadow, and counts the answer.
func (s *subject) move(d, had, has *Delta, r *Refusal, now time.Time) {
	key := s.keyText()
	actual, enforced := has.of(s.net.index, key), had.of(s.net.index, key)
	if s.value() != nil && actual == nil && enforced == nil {
		return
	}
	data := s.own()
	shadow := data.Shadow
	if actual != nil {
		data = *actual
	}
	if s.value() == nil {
		data.Shadow = counted(shadow, s.net.Name, r)
	} else {
		data.Shadow = &ShadowData{Enforced: shadow.Enforced}
	}
	if enforced != nil {
		data.Shadow.Enforced = enforced
	}
	if s.plan() != nil && s.value() == nil && len(s.plan().spoils) > 0 {
		data.Values = s.net.spoilValues(s.base(), &data, s.plan().spoils, now, enforced != nil)
	}
	d.set(s.net.index, key, &data)
}

// enforce makes the moves of a world in which the nets in shadow block, or none.
func (j *judgement) enforce(d *Delta, number uint64) *Refusal {
	j.yield()
	if r := j.refusal(nil); r != nil {
		return r
	}
	metas, r := j.validate()
	if r != nil {
		return r
	}
	if f := j.moves(d, number, metas); f != nil {
		*d = Delta{}
		return j.unrest(f)
	}
	if over := j.crowded(d); len(over) > 0 {
		*d = Delta{}
		return j.crowd(over[0])
	}
	if j.manual {
		return j.refuse(KindApproval, blocksOf(j.steps()))
	}
	return nil
}

// follow makes the moves of the nets that can.
func (j *judgement) follow(d *Delta, number uint64) {
	j.pass()
	metas, _ := j.validate()
	j.moves(d, number, metas)
	j.keepOut(d, j.crowded(d))
}

// counted returns a copy of s that counts the answer of the net.
func counted(s *ShadowData, net string, r *Refusal) *ShadowData {
	c := *s
	switch {
	case r == nil || !slices.ContainsFunc(r.Blocks, func(b Block) bool { return b.Net == net }):
	case r.Kind == KindApproval:
		c.Asked++
	default:
		c.Refused++
	}
	return &c
}

// add counts one answer.
func (c *WouldCount) add(k Kind) {
	switch k {
	case "":
	case KindApproval:
		c.Asked++
	default:
		c.Refused++
	}
}

// A ShadowReport sums up how the nets in shadow would have decided.
type ShadowReport struct {
	WouldCount
	Nets []ShadowState // those in shadow, in the order of the policy
}

// A ShadowState is a copy of the state of one net in shadow.
type ShadowState struct {
	Name     string
	Active   bool
	Enforced Marking // had the nets in shadow blocked, and persons agreed
	Actual   Marking // as every call that was made has moved it, where it could
	Parted   bool    // the two are not the same
	Refused  int     // calls that it would have refused
	Asked    int     // calls for which it would have asked a person
}

// Shadow reports on the nets in shadow.
func (s *Session) Shadow() (r ShadowReport) { return read(s, s.policy.ShadowOf) }

// ShadowOf reports on the nets in shadow in the state s.
func (p *Policy) ShadowOf(s *State) ShadowReport {
	r := ShadowReport{WouldCount: s.Would}
	for i, n := range p.nets {
		if n.Shadow {
			r.Nets = append(r.Nets, n.shadowState(s.Nets[i]))
		}
	}
	return r
}

func (n *net) shadowState(d *NetData) ShadowState {
	s := ShadowState{
		Name: n.Name, Active: d.Active,
		Enforced: n.show(d.Shadow.Enforced), Actual: n.show(d),
		Refused: d.Shadow.Refused, Asked: d.Shadow.Asked,
	}
	s.Parted = !slices.Equal(s.Enforced, s.Actual)
	return s
}
