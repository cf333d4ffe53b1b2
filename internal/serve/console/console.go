package console

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/draft"
)

// Options configures a Console. Proxy is required.
type Options struct {
	Proxy  operator.Proxy
	Hosts  []string         // host:port, or a host with any port, that browsers may use
	Grants bool             // people can give grants for similar calls
	Pins   operator.Pins    // nil: definitions of tools are not pinned
	Drafts *draft.Desk      // evaluates drafts of the policy; nil: the policy is not shown
	Feed   *audit.Feed      // records of the proxy; nil: no calls are known
	Past   trail.Source     // earlier records; nil: none are kept
	Way    Way              // finds the way to a refused call; may be nil
	Log    *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now
}

// A Console is the [http.Handler] of the console. It is safe for concurrent use.
type Console struct {
	options Options
	logins  *logins
	journal *journal
	history *history
	handler http.Handler
	ctx     context.Context //nolint:containedctx // ends with Close, and with it streams of events
	close   context.CancelFunc
	streams atomic.Int32 // number of open event streams
}

// New returns a console without logins. The caller must close it.
func New(o Options) *Console {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Console{options: o, logins: newLogins(o.Hosts, o.Now), journal: newJournal(o.Now), history: newHistory()}
	c.ctx, c.close = context.WithCancel(context.Background())
	var read chan []trail.Record // records that the journal passes to the history
	if o.Past != nil {
		read = make(chan []trail.Record, 1)
	}
	_, durable := o.Past.(trail.Database)
	var rows, states *audit.Follower
	if o.Feed != nil { // follow before reading past records, to miss none in between
		rows, states = o.Feed.Follow(maxRecordsHeld), o.Feed.Follow(maxUnread)
	}
	go c.journal.run(c.ctx, rows, o.Past, read)
	go c.history.run(c.ctx, states, read, durable, o.Proxy.State)
	c.handler = c.logins.guard(c.routes())
	return c
}

// Close ends the streams of events, the journal and the history.
func (c *Console) Close() {
	c.close()
	<-c.journal.done
	<-c.history.done
}

// Code returns a login code that logs in one browser, once, as the person. It expires after a
// while.
func (c *Console) Code(p Person) string { return c.logins.newCode(p) }

// ServeHTTP implements [http.Handler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// routes returns the handler of all pages. Unknown paths require a login too.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/inbox", http.StatusSeeOther) })
	mux.HandleFunc("GET /inbox", c.inbox)
	mux.HandleFunc("GET /inbox/{id}", c.question)
	mux.HandleFunc("POST /answer", c.answer)
	mux.HandleFunc("POST /grant", c.grant)
	mux.HandleFunc("POST /revoke", c.revoke)
	mux.HandleFunc("GET /activity", c.activity)
	mux.HandleFunc("GET /activity.jsonl", c.export)
	mux.HandleFunc("GET /activity/{id}", c.call)
	mux.HandleFunc("GET /tools", c.tools)
	mux.HandleFunc("POST /tools/accept", c.accept)
	mux.HandleFunc("GET /health", c.health)
	mux.HandleFunc("POST /stop", c.stop)
	mux.HandleFunc("POST /start", c.start)
	mux.HandleFunc("GET /nets", c.nets)
	mux.HandleFunc("GET /sessions", c.sessions)
	mux.HandleFunc("POST /sessions/reset", c.reset)
	mux.HandleFunc("POST /sessions/settle", c.settle)
	mux.HandleFunc("GET /events", c.events)
	mux.HandleFunc("GET /policy", c.policy)
	mux.HandleFunc("GET /policy/{what}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/policy", http.StatusSeeOther) })
	mux.HandleFunc("POST /policy/{what}", c.draft)
	mux.HandleFunc("POST /logout", c.logins.logout)
	return mux
}
