package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a ForEach) tools() []gate.Tool { return a.Of.tools() }

func (a ForEach) prove(m *prover) Proof {
	unread := func(f gate.Field) bool { return f.Path == "" && f.Reader == nil }
	if slices.ContainsFunc(a.Key, func(c Compared) bool { return unread(c.Field) || unread(c.Other) }) {
		return Proof{Why: "no rule has a key of this expression"}
	}
	var about, others []gate.Field
	for _, c := range a.Key {
		about, others = append(about, c.Field), append(others, c.Other)
	}
	if m.Calls.Crossed(about) || m.Calls.Crossed(others) {
		return Proof{Why: explore.WhyValues}
	}
	each := *m
	each.each = &a
	p := a.Of.prove(&each)
	if of, ok := a.Of.(AtMost); ok && p.Result == Refuted && (of.Count > maxCount || of.Per.Window > 0) {
		return Proof{Why: explore.WhyLong}
	}
	return p
}
