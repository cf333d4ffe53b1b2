package console

import (
	"cmp"
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// A Proxy is what the console shows, and what answers go to. A [proxy.Proxy] is one. It is
// safe for concurrent use.
type Proxy interface {
	Status() proxy.Status
	Approvals() []proxy.ApprovalInfo
	Approval(id string) (proxy.ApprovalInfo, error)
	ApprovalsChanged() <-chan struct{}
	Answer(id string, a proxy.Answer) error
}

// Options configure a Console.
type Options struct {
	Proxy   Proxy
	Hosts   []string         // host:port, or a host with any port, by which browsers may call it
	Channel string           // by which answers come; empty: web
	Log     *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now
}

// A Console is an [http.Handler]. It is safe for concurrent use.
type Console struct {
	options Options
	doors   *doors
	handler http.Handler
	ctx     context.Context //nolint:containedctx // ends with Close, and with it streams of events
	close   context.CancelFunc
	streams atomic.Int32 // of events
}

//go:embed static
var static embed.FS

// New returns a console that nobody has come into yet. Close it.
func New(o Options) *Console {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Console{options: o, doors: newDoors(o.Hosts, o.Now)}
	c.ctx, c.close = context.WithCancel(context.Background())
	c.handler = c.doors.guard(c.routes())
	return c
}

// Close ends the streams of events.
func (c *Console) Close() { c.close() }

// Code returns a code that lets one browser in, once, as the person. It is good for a while.
func (c *Console) Code(p Person) string { return c.doors.code(p) }

// ServeHTTP implements [http.Handler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// routes are the pages. What is not among them needs a login as well.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/inbox", http.StatusSeeOther) })
	mux.HandleFunc("GET /inbox", c.inbox)
	mux.HandleFunc("GET /inbox/{id}", c.question)
	mux.HandleFunc("POST /answer", c.answer)
	mux.HandleFunc("GET /events", c.events)
	mux.HandleFunc("POST /logout", c.doors.logout)
	return mux
}

// files serves what pages are made of, which tells nobody anything.
func files() http.Handler {
	sub, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // it is embedded
	}
	return http.FileServerFS(sub)
}
