package pool

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// AnnounceEvery is the least time between two list_changed notifications of one list,
// and between two tools/list requests to one server.
const AnnounceEvery = 50 * time.Millisecond

// A relisting is the state of the proxy's tools/list requests to one server. The zero
// value is that of a server that was not asked yet.
type relisting struct {
	due       atomic.Bool // a listing is due: further notifications change nothing
	announced atomic.Bool // the server announced a change since the last listing
	again     atomic.Bool // one is due because the last failed
	Logged    atomic.Bool // the log says that the server is up
	trouble   atomic.Pointer[error]
	running   sync.Mutex // one listing at a time; guards the next two
	began     time.Time  // when the last one did
	failures  int        // how many failed in a row

	mu        sync.Mutex
	requested chan struct{} // closed at the end of the listing that was requested last; nil: there was none
}

// request records that a listing is due. The caller must call end after it.
func (r *relisting) request() (end func()) {
	over := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requested = over
	return func() { close(over) }
}

// Trouble is why the last listing failed; nil: it did not.
func (r *relisting) Trouble() error {
	if err := r.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// await waits for the listing that was requested last, if any: a server that has learned
// a client's capabilities may have other tools.
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

// Relist sends u a tools/list in the background, one for any number of notifications
// before it begins. It notifies clients if the tools have changed, or if announced says
// that u has sent a list_changed.
func (p *Pool) Relist(u *Server, announced bool) {
	if announced {
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
	announced := r.announced.Swap(false)
	ctx, cancel := context.WithTimeout(p.Life.Ctx, spec.ListTimeout)
	defer cancel()
	list, err := u.ListTools(ctx)
	if err != nil {
		p.Life.Log.Warn("listing the tools of an upstream", "upstream", u.Config.Name, "error", err)
		r.trouble.Store(&err)
		u.MarkStarted()
		p.listAgain(u, announced)
		return
	}
	r.failures = 0
	r.trouble.Store(nil)
	for i, tool := range list.Tools { // not with all of the answer
		list.Tools[i] = bytes.Clone(tool)
	}
	changed := p.Catalogue.set(p.Life.Ctx, u, list)
	if r.Logged.CompareAndSwap(false, true) || changed {
		p.Life.Log.Info("upstream is up", logkind.Up, "upstream", u.Config.Name, "tools", len(list.Tools), "protocol", u.State().ProtocolVersion)
	}
	if changed || announced {
		p.Changed(spec.ListChanged)
	}
	u.MarkStarted()
}

// listAgain sends tools/list again after a pause: nothing else would, if the server
// stays up and announces no change.
func (p *Pool) listAgain(u *Server, announced bool) {
	r := &u.Listing
	pause := min(250*time.Millisecond<<min(r.failures, 10), spec.ListTimeout)
	r.failures++
	if announced {
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

// Repin takes over which definitions of tools other processes have accepted, and meets again the
// tools that could not be kept while their book was away, or that somebody has removed from it.
// It reports whether clients now see other tools.
func (p *Pool) Repin(ctx context.Context) bool {
	pins := p.Catalogue.Pins
	changed, err := pins.Book.Refresh(ctx)
	if err != nil {
		p.Life.Log.Debug("the accepted definitions of tools cannot be read", "error", err)
		return false
	}
	due := changed
	for _, u := range p.Servers {
		if changed || pins.Deferred(u.Config.Name) {
			p.meetAgain(ctx, u)
			due = true
		}
	}
	return due && p.Catalogue.Relist()
}

// meetAgain notes once more what u said of its tools, unless it is being listed: then it says
// that anew, and nobody waits for it here.
func (p *Pool) meetAgain(ctx context.Context, u *Server) {
	if !u.Listing.running.TryLock() {
		return
	}
	defer u.Listing.running.Unlock()
	p.Catalogue.meet(ctx, u, p.Catalogue.list(u))
}
