package proxy

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// listTimeout bounds one listing of an upstream's tools.
const listTimeout = 30 * time.Second

// upstreamState is an upstream with what the proxy knows of it.
type upstreamState struct {
	*upstream.Upstream
	config  Upstream
	several bool // it is one of several

	queued  atomic.Bool // a listing is due: further announcements change nothing
	said    atomic.Bool // u announced a change since the last listing
	listing sync.Mutex  // one listing at a time
	listed  time.Time   // when the last began; of the one under way
	relists relistings
	missed  int         // listings in a row that failed; of the one under way
	again   atomic.Bool // one is due because the last failed
	told    atomic.Bool // the log says that it is up

	flights queue // calls that were sent and have no answer

	promptsChanged, resourcesChanged atomic.Bool // the clients are about to be told

	away sentAway // persons that it has sent to a URL

	leveling sync.Mutex // held while the server is told a level
	level    string     // that it knows; guarded by leveling

	watching sync.Mutex
	watched  []string // resources whose changes the server was asked to tell of

	corked *lines.Writer // during a burst; of the connection's reader

	branches branches       // of a trunk
	underway share          // calls at a trunk and its branches, where they are counted
	trunk    *upstreamState // of a branch; nil: this is a trunk
	session  *session       // whose branch it is
	closed   chan struct{}  // closed when the branch has ended
	used     atomic.Int64   // when a request was last sent there

	straying sync.Mutex
	strays   map[*session]int // calls that their clients gave up, and that have no answer

	once    sync.Once
	settled chan struct{} // closed when it was listed first, or is known to be down
}

func newUpstreamState(c Upstream, several bool) *upstreamState {
	return &upstreamState{config: c, several: several, settled: make(chan struct{})}
}

// starting reports whether u was neither listed nor is known to be down.
func (u *upstreamState) starting() bool {
	select {
	case <-u.settled:
		return false
	default:
		return true
	}
}

func (u *upstreamState) settle() { u.once.Do(func() { close(u.settled) }) }

// stateChanged follows u: its tools while it is up, and what it had while it
// is down, so that the list of the clients does not flicker.
func (p *Proxy) stateChanged(u *upstreamState) {
	state := u.State()
	switch state.Phase {
	case upstream.Up:
		if u.trunk != nil {
			u.settle()
			p.background(func() { p.renew(u) })
			return
		}
		p.listening(u)
		p.background(func() { p.renew(u) })
	case upstream.Down, upstream.Failed:
		if p.ctx.Err() != nil { // we ended it
			return
		}
		u.told.Store(false)
		p.log.Warn("upstream is down", "upstream", u.config.Name, "reason", state.Err)
		u.settle()
	}
}

// renew asks a server that has just come up for what the clients want of it.
func (p *Proxy) renew(u *upstreamState) {
	u.watching.Lock()
	u.watched = nil
	u.watching.Unlock()
	if u.has("resources") {
		u.watch(p.watchedAt(u))
	}
	ctx, cancel := context.WithTimeout(p.ctx, levelTimeout)
	defer cancel()
	p.setUpstreamLevel(ctx, u, true)
}

// relist asks u for its tools, once for any number of announcements that come
// before it begins. A list that changed is announced to the clients, and so is
// one of which u said that it did.
func (p *Proxy) relist(u *upstreamState, said bool) {
	if said {
		u.said.Store(true)
	}
	if u.queued.Swap(true) {
		return
	}
	end := u.relists.begin()
	if !p.background(func() {
		defer end()
		u.listing.Lock()
		defer u.listing.Unlock()
		if u.said.Load() && !p.sleep(announceEvery-time.Since(u.listed)) {
			return
		}
		u.listed = time.Now()
		u.queued.Store(false)
		if u.State().Phase != upstream.Up { // it is listed when it is
			return
		}
		said := u.said.Swap(false)
		ctx, cancel := context.WithTimeout(p.ctx, listTimeout)
		defer cancel()
		list, err := u.ListTools(ctx)
		if err != nil {
			p.log.Warn("listing the tools of an upstream", "upstream", u.config.Name, "error", err)
			u.settle()
			p.listAgain(u, said)
			return
		}
		u.missed = 0
		raw := make([][]byte, len(list.Tools))
		for i, o := range list.Tools {
			raw[i] = bytes.Clone(o)
		}
		changed := p.catalogue.set(u, raw, list.Pages)
		if u.told.CompareAndSwap(false, true) || changed {
			p.log.Info("upstream is up", "upstream", u.config.Name, "tools", len(raw), "protocol", u.State().ProtocolVersion)
		}
		if changed || said {
			p.announce(listChanged)
		}
		u.settle()
	}) {
		end()
	}
}

// listAgain asks for the tools once more after a while: nothing else would,
// where the upstream stays up and has no change to announce.
func (p *Proxy) listAgain(u *upstreamState, said bool) {
	pause := min(250*time.Millisecond<<min(u.missed, 10), listTimeout)
	u.missed++
	if said {
		u.said.Store(true)
	}
	if u.again.Swap(true) {
		return
	}
	p.background(func() {
		if p.sleep(pause) {
			u.again.Store(false)
			p.relist(u, false)
		}
	})
}

// sleep waits for d, if that is any time; false: the proxy ends.
func (p *Proxy) sleep(d time.Duration) bool {
	if d <= 0 {
		return p.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// announceEvery is the time between two announcements of one list, and between
// two listings of tools: a flood of them becomes few.
const announceEvery = 50 * time.Millisecond

// announceSoon tells the clients of a change, once for any number of changes
// that come before.
func (p *Proxy) announceSoon(due *atomic.Bool, method string) {
	if due.Swap(true) {
		return
	}
	p.background(func() {
		p.sleep(announceEvery)
		due.Store(false)
		p.announce(method)
	})
}

// listening stands in for what u may have said before it was heard.
func (p *Proxy) listening(u *upstreamState) {
	if u.trunk != nil { // the lists are the trunk's
		return
	}
	p.relist(u, false)
	if p.anyCan("prompts", "listChanged") {
		p.announceSoon(&u.promptsChanged, promptsListChanged)
	}
	if p.anyCan("resources", "listChanged") {
		p.announceSoon(&u.resourcesChanged, resourcesListChanged)
	}
}

// heard takes a notification that belongs to no call. It runs on the
// connection's reader and hands off what could take time.
func (p *Proxy) heard(u *upstreamState, method string, params []byte) {
	if p.tasks.notification(u, method, params) {
		return
	}
	trunk := u
	if u.trunk != nil {
		trunk = u.trunk
	}
	switch method {
	case listChanged:
		p.relist(trunk, true)
	case promptsListChanged:
		p.announceSoon(&trunk.promptsChanged, method)
	case resourcesListChanged:
		p.announceSoon(&trunk.resourcesChanged, method)
	case resourceUpdated:
		p.updated(u, params)
	case elicitationComplete:
		p.returned(u, params)
	case "notifications/message":
		p.logged(u, params)
	default:
		p.log.Debug("notification of an upstream dropped", "upstream", u.config.Name, "method", method)
	}
}

// burst puts what comes of many messages of u together into few writes.
func (p *Proxy) burst(u *upstreamState, begins bool) {
	if begins {
		u.corked = p.stdio.Load()
	}
	switch {
	case u.corked == nil:
	case begins:
		u.corked.Cork()
	default:
		u.corked.Uncork()
		u.corked = nil
	}
}
