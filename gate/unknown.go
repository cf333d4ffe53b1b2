package gate

import (
	"bytes"
	"slices"
)

// maxUnknown is the maximum number of calls with an unknown outcome that a session stores
// separately. If there are more, similar calls are merged into a single one.
const maxUnknown = 16

// endUnknown returns the changes that record an unknown outcome of the call c. If another open call
// can represent c, the changes close c and increment the other call's More field; see
// [OpenCall.More].
func (s *State) endUnknown(c *OpenCall) *Delta {
	if o := s.representative(c); o != nil {
		stands := *o
		stands.More++
		return &Delta{Closed: c.Number, Opened: &stands}
	}
	open := *c
	open.Unknown = true
	return &Delta{Opened: &open}
}

// withOneLess returns the changes to make when one of the calls that c represents ends.
func (c *OpenCall) withOneLess() *Delta {
	open := *c
	open.More--
	return &Delta{Opened: &open}
}

// representative returns the first open call that can represent c, a call whose outcome is unknown;
// see [OpenCall.More]. The result is nil if no call can represent c, if c holds tokens (see
// [State.holdsTokens]), or if the state stores fewer than maxUnknown other calls with unknown
// outcomes.
func (s *State) representative(c *OpenCall) (first *OpenCall) {
	if len(s.Calls) <= maxUnknown {
		return nil
	}
	unknown := 0
	for _, o := range s.Calls {
		if !o.Unknown {
			continue
		}
		unknown++
		if (first == nil || o.Number < first.Number) && sameTool(&o.Call, &c.Call) && !s.holdsTokens(o) && s.spoilsAllOf(o, c) {
			first = o
		}
	}
	if unknown < maxUnknown || s.holdsTokens(c) {
		return nil
	}
	return first
}

// sameTool reports whether a and b call the same tool. Calls to different tools are never merged,
// because [adoption.maySpoil] sees only the remaining call. Its result depends on the call's tool,
// but not on the arguments.
func sameTool(a, b *Call) bool {
	return a.Tool == b.Tool && a.Foreign == b.Foreign && a.Upstream == b.Upstream &&
		slices.Equal(a.Also, b.Also) && bytes.Equal(a.Annotations, b.Annotations)
}

// holdsTokens reports whether the call has tokens in flight that an unknown outcome does not
// return; see [Transition.Release].
func (s *State) holdsTokens(c *OpenCall) bool {
	return s.anyState(c, func(n *net, d *NetData) bool {
		call := s.flight(n, c.Number, c.Call.Time)
		return slices.ContainsFunc(d.Flights, func(f Flight) bool { return f.SameCall(&call) && !n.Transitions[f.Transition].Release })
	})
}

// spoilsAllOf reports whether c can be merged into o without losing an effect of
// [Transition.Spoils]. This requires that o keeps other calls from counting in every net state
// where c does.
func (s *State) spoilsAllOf(o, c *OpenCall) bool {
	return !s.anyState(c, func(n *net, d *NetData) bool {
		spoils := func(number uint64) bool {
			call := s.flight(n, number, c.Call.Time)
			return slices.ContainsFunc(d.Spoilers(), func(f Flight) bool { return f.SameCall(&call) })
		}
		return spoils(c.Number) && !spoils(o.Number)
	})
}

// anyState reports whether ok returns true for any net state that might wait for the call. For each
// net in c.Nets, it tries the default state (see [NetData]) and the state for the call's key value.
// For a net in shadow mode, it also tries the enforced states; see [ShadowData].
func (s *State) anyState(c *OpenCall, ok func(*net, *NetData) bool) bool {
	for k, i := range c.Nets {
		all := []*NetData{s.Nets[i]}
		if len(c.Keys) > 0 {
			all = append(all, s.Nets[i].Values.Get(c.Keys[k]))
		}
		for _, d := range all {
			if d != nil && (ok(s.policy.nets[i], d) || d.Shadow != nil && ok(s.policy.nets[i], d.Shadow.Enforced)) {
				return true
			}
		}
	}
	return false
}
