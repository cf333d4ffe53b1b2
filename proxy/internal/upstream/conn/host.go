package conn

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
)

// A Host is what a connection knows of the upstream that it belongs to. Its fields do
// not change once the upstream has started.
type Host struct {
	Config  Config
	Options Options
	Log     *slog.Logger
	Grace   Grace
	Client  *http.Client

	IDs   atomic.Int64 // of requests and progress tokens
	Words words        // of its process
	Work  work         // goroutines that outlive a connection

	Acked chan int64 // gets the id of a subscription that is acknowledged; 0: it is not known

	Rev func() *rev.Rev // of the server, as far as it is known

	// Renew shakes hands once more on c, whose session the server has forgotten.
	Renew func(ctx context.Context, c Conn, version string) (*Session, error)
	// Renewed is told once c uses the new session.
	Renewed func()
}

// Grace is the time that a child has to end, step by step.
type Grace struct {
	Exit time.Duration // after the end of its input, before it is asked to end
	Term time.Duration // after that, before it is killed
	Kill time.Duration // after that, before it is reported as not killable
	Tell time.Duration // after the end of its output, for its exit status
}

// Heard takes a notification that belongs to no request.
func (h *Host) Heard(method string, params []byte) {
	switch {
	case method == "notifications/subscriptions/acknowledged": // from now on nothing is missed
		select {
		case h.Acked <- acknowledged(params):
		default: // nobody listens
		}
	case h.Options.OnNotification != nil:
		h.Options.OnNotification(method, params)
	}
}

// acknowledged is the id of the subscription that the server says it has begun;
// 0: it does not say of which.
func acknowledged(params []byte) int64 {
	meta, _ := rawjson.Member(params, "_meta")
	id, _ := rawjson.Member(meta, "io.modelcontextprotocol/subscriptionId")
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// HeardFrom is called when the server's messages begin to be heard.
func (h *Host) HeardFrom() {
	if h.Options.OnListen != nil {
		h.Options.OnListen()
	}
}
