package pipeline

import (
	"context"
	"fmt"
)

// place puts the call where its session is served. It reports false where that
// takes time, or cannot be: then the call is served aside, or is answered.
func (t *Call) place() bool {
	p, shared := t.proxy, t.Tool.Upstream
	if shared.Dedicated() {
		return true
	}
	at, err := p.Pool.Place(t.Client.Session, shared, t.Agent)
	if err != nil {
		r := PlainRefusal("unavailable", fmt.Sprintf("%s was not called and nothing was spent: %v. End a session that is not used any more, or try again later.", t.Tool.Exposed, err))
		p.RecordRefusal(t, r)
		t.answer(r)
		return false
	}
	if at == shared {
		return true
	}
	own := *t.Tool
	own.Upstream = at
	t.Tool = &own
	if !at.Starting() && at.Declares(t.Agent.Forwarded()) {
		return true
	}
	t.waitAside(func() {
		ctx, cancel := context.WithTimeout(t.ctx, p.StartupLimit)
		defer cancel()
		at.AwaitReady(ctx, t.Agent)
		p.serve(t)
	})
	return false
}
