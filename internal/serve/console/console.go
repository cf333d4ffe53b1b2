package console

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
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

// A Way finds the calls that must succeed before a refused call is allowed.
type Way func(s *gate.State, c gate.Call, r *gate.Refusal) WayOut

// A WayOut is the shortest sequence of calls that makes a call allowed.
type WayOut struct {
	Calls    []string // calls that must succeed, in this order
	Sentence string   // the same in words, or why it does not exist; empty: unknown
}
