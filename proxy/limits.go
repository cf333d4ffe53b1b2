package proxy

import "fmt"

// root is the trunk of u, or u itself.
func (u *upstreamState) root() *upstreamState {
	if u.trunk != nil {
		return u.trunk
	}
	return u
}

// reserve takes one of the places that the upstream has for calls under way,
// before the gate is asked: so nothing is spent on a call that finds none. It
// says what the client is told instead; nil: there was one.
func (p *Proxy) reserve(t *toolCall) answer {
	u := t.tool.upstream.root()
	limit := int64(u.config.Limits.InFlight)
	if limit == 0 {
		return nil
	}
	if u.underway.Add(1) > limit {
		u.underway.Add(-1)
		r := plainRefusal("busy", fmt.Sprintf("%s was not called and nothing was spent: %d calls of the upstream %s are under way, and no more are allowed at a time (limits.inFlight). Call it again when one of them has ended.",
			t.tool.exposed, limit, u.config.Name))
		p.recordRefusal(t, r, nil)
		return r
	}
	t.reserved.Store(true)
	return nil
}

// release gives the place back, once.
func (t *toolCall) release() {
	if t.reserved.Swap(false) {
		t.tool.upstream.root().underway.Add(-1)
	}
}
