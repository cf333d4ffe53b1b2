package proxy

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// listTimeout bounds one listing of an upstream's tools.
const listTimeout = 30 * time.Second

// A relisting is how far the proxy is with tools/list of one server. The zero
// value is of a server that was not asked yet.
type relisting struct {
	due     atomic.Bool // a listing is due: further announcements change nothing
	said    atomic.Bool // the server announced a change since the last listing
	again   atomic.Bool // one is due because the last failed
	logged  atomic.Bool // the log says that the server is up
	running sync.Mutex  // one listing at a time; guards the next two
	began   time.Time   // when the last one did
	missed  int         // how many failed in a row

	mu   sync.Mutex
	last chan struct{} // closed at the end of the listing that was wanted last; nil: there was none
}

// want notes that a listing is wanted; its end has to be told.
func (r *relisting) want() (end func()) {
	over := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = over
	return func() { close(over) }
}

// await waits for the listing that is wanted now, if there is one: a server that
// has learned of what a client can do may have other tools.
func (r *relisting) await(ctx context.Context) {
	r.mu.Lock()
	over := r.last
	r.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// relist asks u for its tools, once for any number of announcements that come
// before it begins. A list that changed is announced to the clients, and so is
// one of which u said that it did.
func (p *Proxy) relist(u *upstreamState, said bool) {
	if said {
		u.listing.said.Store(true)
	}
	if u.listing.due.Swap(true) {
		return
	}
	end := u.listing.want()
	if !p.background(func() {
		defer end()
		p.listNow(u)
	}) {
		end()
	}
}

func (p *Proxy) listNow(u *upstreamState) {
	r := &u.listing
	r.running.Lock()
	defer r.running.Unlock()
	if r.said.Load() && !p.sleep(announceEvery-time.Since(r.began)) {
		return
	}
	r.began = time.Now()
	r.due.Store(false)
	if u.State().Phase != upstream.Up { // it is listed when it is
		return
	}
	said := r.said.Swap(false)
	ctx, cancel := context.WithTimeout(p.ctx, listTimeout)
	defer cancel()
	list, err := u.ListTools(ctx)
	if err != nil {
		p.log.Warn("listing the tools of an upstream", "upstream", u.config.Name, "error", err)
		u.settle()
		p.listAgain(u, said)
		return
	}
	r.missed = 0
	raw := make([][]byte, len(list.Tools))
	for i, o := range list.Tools {
		raw[i] = bytes.Clone(o)
	}
	changed := p.catalogue.set(u, raw, list.Pages)
	if r.logged.CompareAndSwap(false, true) || changed {
		p.log.Info("upstream is up", "upstream", u.config.Name, "tools", len(raw), "protocol", u.State().ProtocolVersion)
	}
	if changed || said {
		p.changed(listChanged)
	}
	u.settle()
}

// listAgain asks for the tools once more after a while: nothing else would,
// where the upstream stays up and has no change to announce.
func (p *Proxy) listAgain(u *upstreamState, said bool) {
	r := &u.listing
	pause := min(250*time.Millisecond<<min(r.missed, 10), listTimeout)
	r.missed++
	if said {
		r.said.Store(true)
	}
	if r.again.Swap(true) {
		return
	}
	p.background(func() {
		if p.sleep(pause) {
			r.again.Store(false)
			p.relist(u, false)
		}
	})
}
