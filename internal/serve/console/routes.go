package console

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// New returns a console that has no logins yet. The caller must close it.
func New(o Options) *Console {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Console{options: o, logins: newLogins(o.Hosts, o.Now), journal: newJournal(o.Now), history: newHistory()}
	c.ctx, c.close = context.WithCancel(context.Background())
	var read chan []trail.Record // records that the journal sends to the history
	if o.Past != nil {
		read = make(chan []trail.Record, 1)
	}
	_, durable := o.Past.(trail.Database)
	var rows, states *audit.Follower
	if o.Feed != nil { // follow the feed before reading the stored records, so that no records in between are missed
		rows, states = o.Feed.Follow(maxRecordsHeld), o.Feed.Follow(maxUnread)
	}
	go c.journal.run(c.ctx, rows, o.Past, read)
	go c.history.run(c.ctx, states, read, durable, o.Proxy.State)
	c.handler = c.logins.guard(c.routes())
	return c
}

// routes returns a handler for all pages. Unknown paths require a login too.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/inbox", http.StatusSeeOther) })
	mux.HandleFunc("GET /inbox", c.inbox)
	mux.HandleFunc("GET /inbox/{id}", c.showQuestion)
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
	mux.HandleFunc("GET /events", c.sendEvents)
	mux.HandleFunc("GET /policy", c.policy)
	mux.HandleFunc("GET /policy/{what}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/policy", http.StatusSeeOther) })
	mux.HandleFunc("POST /policy/{what}", c.draft)
	mux.HandleFunc("POST /logout", c.logins.logout)
	return mux
}
