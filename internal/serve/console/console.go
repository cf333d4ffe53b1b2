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

// Options configures a [Console]. Proxy is required.
type Options struct {
	Proxy  operator.Proxy
	Hosts  []string         // hosts that browsers may use to reach the console; each has the form host:port, or host if any port is allowed
	Grants bool             // whether a person who approves a call can also approve similar calls in advance
	Pins   operator.Pins    // accepted tool definitions; nil if tool definitions are not pinned
	Drafts *draft.Evaluator // evaluates policy drafts; if nil, the policy page is not available
	Feed   *audit.Feed      // new audit records; if nil, the console shows no calls
	Past   trail.Source     // earlier audit records; nil if none are stored
	Way    WayFinder        // finds the calls that must succeed before a refused call is allowed; may be nil
	Log    *slog.Logger     // if nil, nothing is logged
	Now    func() time.Time // if nil, time.Now is used
}

// A Console is an [http.Handler] that serves the web console. It is safe for concurrent use.
type Console struct {
	options Options
	logins  *logins
	journal *journal
	history *history
	handler http.Handler
	ctx     context.Context //nolint:containedctx // canceled by Close, which ends the streams of events
	close   context.CancelFunc
	streams atomic.Int32 // number of open event streams
}

// Close ends all event streams, and waits until the background goroutines of the console have
// stopped.
func (c *Console) Close() {
	c.close()
	<-c.journal.done
	<-c.history.done
}

// Code returns a new login code for the given person. The code works once, for one browser, and
// expires after five minutes.
func (c *Console) Code(p Person) string { return c.logins.newCode(p) }

// ServeHTTP implements [http.Handler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// A WayFinder finds the calls that must succeed before the proxy allows a refused call. Its
// arguments are the state of the nets at the time of the refusal, the call, and the refusal itself.
type WayFinder func(s *gate.State, c gate.Call, r *gate.Refusal) WayOut

// A WayOut is the shortest sequence of calls that would make the proxy allow a refused call.
type WayOut struct {
	Calls    []string // the calls to make, in order
	Sentence string   // the sequence in words, or why no sequence exists; empty if unknown
}
