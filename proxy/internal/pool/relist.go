package pool

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// AnnounceEvery is the time between two announcements of one list, and between
// two listings of tools: a flood of them becomes few.
const AnnounceEvery = 50 * time.Millisecond

// A relisting is how far the proxy is with tools/list of one server. The zero
// value is of a server that was not asked yet.
type relisting struct {
	due       atomic.Bool // a listing is due: further announcements change nothing
	announced atomic.Bool // the server announced a change since the last listing
	again     atomic.Bool // one is due because the last failed
	Logged    atomic.Bool // the log says that the server is up
	running   sync.Mutex  // one listing at a time; guards the next two
	began     time.Time   // when the last one did
	failures  int         // how many failed in a row

	mu        sync.Mutex
	requested chan struct{} // closed at the end of the listing that was wanted last; nil: there was none
}

// want notes that a listing is wanted; its end has to be told.
func (r *relisting) request() (end func()) {
	over := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requested = over
	return func() { close(over) }
}

// await waits for the listing that is wanted now, if there is one: a server that
// has learned of what a client can do may have other tools.
func (r *relisting) await(ctx context.Context) {
	r.mu.Lock()
	over := r.requested
	r.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// Relist asks u for its tools, once for any number of announcements that come
// before it begins. A list that changed is announced to the clients, and so is
// one of which u said that it did.
func (p *Pool) Relist(u *Server, said bool) {
	if said {
		u.Listing.announced.Store(true)
	}
	if u.Listing.due.Swap(true) {
		return
	}
	end := u.Listing.request()
	if !p.Life.Background(func() {
		defer end()
		p.listNow(u)
	}) {
		end()
	}
}

func (p *Pool) listNow(u *Server) {
	r := &u.Listing
	r.running.Lock()
	defer r.running.Unlock()
	if r.announced.Load() && !p.Life.Sleep(AnnounceEvery-time.Since(r.began)) {
		return
	}
	r.began = time.Now()
	r.due.Store(false)
	if u.State().Phase != upstream.Up { // it is listed when it is
		return
	}
	said := r.announced.Swap(false)
	ctx, cancel := context.WithTimeout(p.Life.Ctx, spec.ListTimeout)
	defer cancel()
	list, err := u.ListTools(ctx)
	if err != nil {
		p.Life.Log.Warn("listing the tools of an upstream", "upstream", u.Config.Name, "error", err)
		u.MarkStarted()
		p.listAgain(u, said)
		return
	}
	r.failures = 0
	raw := make([][]byte, len(list.Tools))
	for i, o := range list.Tools {
		raw[i] = bytes.Clone(o)
	}
	changed := p.Catalogue.set(u, raw, list.Pages)
	if r.Logged.CompareAndSwap(false, true) || changed {
		p.Life.Log.Info("upstream is up", "upstream", u.Config.Name, "tools", len(raw), "protocol", u.State().ProtocolVersion)
	}
	if changed || said {
		p.Changed(spec.ListChanged)
	}
	u.MarkStarted()
}

// listAgain asks for the tools once more after a while: nothing else would,
// where the upstream stays up and has no change to announce.
func (p *Pool) listAgain(u *Server, said bool) {
	r := &u.Listing
	pause := min(250*time.Millisecond<<min(r.failures, 10), spec.ListTimeout)
	r.failures++
	if said {
		r.announced.Store(true)
	}
	if r.again.Swap(true) {
		return
	}
	p.Life.Background(func() {
		if p.Life.Sleep(pause) {
			r.again.Store(false)
			p.Relist(u, false)
		}
	})
}
