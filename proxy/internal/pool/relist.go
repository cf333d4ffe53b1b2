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
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// AnnounceEvery is the minimum time between two list_changed notifications for the same list, and
// between two tools/list requests to the same server.
const AnnounceEvery = 50 * time.Millisecond

// A relisting tracks the tools/list requests that the proxy sends to one server. The zero value is
// ready to use. mu guards the field requested.
type relisting struct {
	due       atomic.Bool // whether a requested listing has not started yet; further requests then cause no second listing
	announced atomic.Bool // whether the server has announced a change since the last listing
	again     atomic.Bool // whether a retry after a failed listing is pending
	Logged    atomic.Bool // whether the log has reported the server as up
	trouble   atomic.Pointer[error]
	running   sync.Mutex // held during a listing; guards the next two fields
	began     time.Time  // when the last listing started
	failures  int        // number of consecutive failures

	mu        sync.Mutex
	requested chan struct{} // closed when the latest requested listing ends; nil if none was requested
}

// request records that a listing has been requested, so that await can wait for it. The caller must
// call the returned function when the listing has ended.
func (r *relisting) request() (end func()) {
	over := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requested = over
	return func() { close(over) }
}

// Trouble returns the error of the latest listing, or nil if the listing succeeded.
func (r *relisting) Trouble() error {
	if err := r.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// await waits until the latest requested listing, if any, has ended. It is used after the server
// has learned a client's capabilities, because the tools may depend on them.
func (r *relisting) await(ctx context.Context) {
	r.mu.Lock()
	over := r.requested
	r.mu.Unlock()
	if over != nil {
		wait.For(ctx, over)
	}
}

// Relist sends tools/list to u in the background, and notifies clients if the tools have changed.
// If announced is true, the server has sent a list_changed notification, and clients are notified
// even if the tools are the same. Several calls to Relist before the listing starts cause only one
// listing.
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
	if r.announced.Load() && !wait.Sleep(p.Life.Ctx, AnnounceEvery-time.Since(r.began)) {
		return
	}
	r.began = time.Now()
	r.due.Store(false)
	if u.State().Phase != upstream.Up { // the server's tools will be listed once it is up
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
		p.relistAfterPause(u, announced)
		return
	}
	r.failures = 0
	r.trouble.Store(nil)
	for i, tool := range list.Tools { // clone each tool, so that the memory of the whole response can be freed
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

// relistAfterPause sends tools/list again some time after a listing has failed. Otherwise, a server
// that stays up and announces no change would never be asked again.
func (p *Pool) relistAfterPause(u *Server, announced bool) {
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
		if wait.Sleep(p.Life.Ctx, pause) {
			r.again.Store(false)
			p.Relist(u, false)
		}
	})
}

// Repin reads the accepted tool definitions (pins) that other processes have stored. If the pins
// have changed, or if definitions could not be stored earlier, it compares the servers' definitions
// with the pins again. Repin reports whether clients now see different tools.
func (p *Pool) Repin(ctx context.Context) bool {
	pins := p.Catalogue.Pins
	changed, err := pins.Store.Refresh(ctx)
	if err != nil {
		p.Life.Log.Debug("cannot read the accepted tool definitions", "error", err)
		return false
	}
	due := changed
	for _, u := range p.Servers {
		if changed || pins.MustRegister(u.Config.Name) {
			p.offerToPinsAgain(ctx, u)
			due = true
		}
	}
	return due && p.Catalogue.Relist()
}

// offerToPinsAgain compares the server's latest tool definitions with the pins (the accepted
// definitions) again. If a listing is running, it returns immediately, because that listing will do
// the same.
func (p *Pool) offerToPinsAgain(ctx context.Context, u *Server) {
	if !u.Listing.running.TryLock() {
		return
	}
	defer u.Listing.running.Unlock()
	p.Catalogue.offerToPins(ctx, u, p.Catalogue.list(u))
}
