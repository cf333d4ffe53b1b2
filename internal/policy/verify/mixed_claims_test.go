package verify_test

import (
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A saying is a rule's meaning as a claim.
type saying struct {
	of  verify.Assertion
	key string // the key after "for each" or "with same"
}

// says records a rule's meaning, which most claims are about.
func (m *mixer) says(key string, of verify.Assertion) {
	key = strings.TrimPrefix(strings.TrimPrefix(key, " for each "), " with same ")
	m.said = append(m.said, saying{of, key})
}

// among returns one of the names of a list.
func (m *mixer) among(list string) gate.Tool {
	return gate.Tool{Name: m.pick(strings.Split(list, ", ")...)}
}

// named returns the tools of a list.
func named(list string) []gate.Tool {
	if list == "" {
		return nil
	}
	return gate.Tools(strings.Split(list, ", ")...)
}

// claim usually returns the meaning of a rule or a slight variation of it.
func (m *mixer) claim() verify.Assertion {
	if len(m.said) == 0 || m.IntN(4) == 0 {
		return m.other()
	}
	s := m.said[m.IntN(len(m.said))]
	if m.IntN(2) == 0 {
		s.of = m.nearly(s.of)
	}
	switch s.of.(type) {
	case verify.NeverBefore, verify.AtMost:
		s.key = m.likeKey(s.key)
	default:
		s.key = ""
	}
	if s.key != "" {
		s.of = verify.ForEach{Of: s.of, Key: comparedBy(s.key)}
	}
	if m.IntN(6) == 0 {
		return verify.Each{Of: []verify.Assertion{s.of, m.simple(func() gate.Tool { return gate.Tool{Name: m.one()} })}}
	}
	return s.of
}

// likeKey usually returns the key; otherwise it returns a part of it or no key.
func (m *mixer) likeKey(key string) string {
	parts := strings.Split(key, ", ")
	switch m.IntN(6) {
	case 0:
		key = m.pick(m.of.keys...)
	case 1:
		key = ""
	case 2, 3:
		key = m.pick(parts...)
	}
	if strings.HasPrefix(key, "result.") { // claims do not consider results
		return m.of.keys[0]
	}
	return key
}

// nearly returns a claim that is slightly stronger or weaker than what a rule guarantees.
func (m *mixer) nearly(of verify.Assertion) verify.Assertion {
	switch a := of.(type) {
	case verify.NeverBefore:
		a.Once = !a.Once
		return a
	case verify.AtMost:
		switch m.IntN(4) {
		case 0:
			a.Count++
		case 1:
			a.Per = verify.Period{}
		case 2:
			a.Per.Successful = a.Per.Call.Name != "" && !a.Per.Successful
		default:
			a.Tools = named(m.some())
			a.Per.Call.Name = ""
			a.Per.Successful = false
		}
		return a
	case verify.NeverAfter:
		a.Unapproved = &verify.Approval{Count: m.IntN(3)}
		return a
	case verify.NeverWithoutApproval:
		a.Count = m.IntN(3)
		return a
	case verify.NeverWhile:
		a.Other.Name = m.one()
		return a
	}
	return verify.AlwaysPossible{Tool: gate.Tool{Name: m.one()}}
}

// other returns a claim for each value, about a list, or over a period.
func (m *mixer) other() verify.Assertion {
	tool := func() gate.Tool { return gate.Tool{Name: m.one()} }
	var of verify.Assertion
	switch m.IntN(4) {
	case 0, 1:
		of = verify.NeverBefore{Tool: tool(), First: tool(), Once: m.IntN(3) == 0}
	case 2:
		of = m.atMost(tool)
	default:
		return verify.Each{Of: []verify.Assertion{m.simple(tool), m.simple(tool)}}
	}
	if m.IntN(4) == 0 {
		return of
	}
	return verify.ForEach{Of: of, Key: comparedBy(m.pick(m.of.keys...))}
}

func (m *mixer) atMost(tool func() gate.Tool) verify.Assertion {
	a := verify.AtMost{Count: 1 + m.IntN(2), Tools: []gate.Tool{tool()}}
	if other := tool(); m.IntN(3) == 0 && other != a.Tools[0] {
		a.Tools = append(a.Tools, other)
	}
	switch m.IntN(4) {
	case 0:
		if other := tool(); !slices.Contains(a.Tools, other) {
			a.Per = verify.Period{Call: other, Successful: m.IntN(2) == 0}
		}
	case 1:
		a.Per.Window = []time.Duration{time.Minute, time.Hour}[m.IntN(2)]
	}
	a.Per.User = m.IntN(4) == 0
	return a
}

// simple returns a claim about a list.
func (m *mixer) simple(tool func() gate.Tool) verify.Assertion {
	switch m.IntN(6) {
	case 0:
		return verify.Never{Tool: tool()}
	case 1:
		return verify.NeverBefore{Tool: tool(), First: tool()}
	case 2:
		return verify.NeverAfter{Tool: tool(), After: tool(), Until: []gate.Tool{tool()}}
	case 3:
		return verify.NeverWithoutApproval{Tool: tool(), Approval: verify.Approval{Count: m.IntN(3)}}
	case 4:
		return verify.AlwaysPossible{Tool: tool()}
	}
	return m.atMost(tool)
}

// comparedBy returns the key of a claim, unmodified.
func comparedBy(key string) (all []verify.Compared) {
	field := func(text string) gate.Field {
		f := gate.Field{Path: text, Source: text}
		if strings.HasPrefix(text, `"`) {
			f.Path = ""
		}
		return f
	}
	for _, text := range strings.Split(key, ", ") {
		of, about, two := strings.Cut(text, " as ")
		if !two {
			about = of
		}
		all = append(all, verify.Compared{Field: field(about), Other: field(of)})
	}
	return all
}
