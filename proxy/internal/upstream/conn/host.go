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

// A Host holds what all connections of one upstream share. Its fields do not change once the
// upstream has started.
type Host struct {
	Config  Config
	Options Options
	Log     *slog.Logger
	Grace   Grace
	Client  *http.Client

	IDs   atomic.Int64 // last id of a request or progress token
	Words outputLines  // last output lines of its process
	Work  goroutines   // goroutines that outlive a connection

	Acked chan int64 // receives the id of an acknowledged subscription; 0: unknown id

	Rev func() *rev.Rev // returns the family of revisions of the server, as far as known

	// Renew repeats the handshake on c after the server has forgotten its session.
	Renew func(ctx context.Context, c Conn, version string) (*Session, error)
	// Renewed is called once c uses the new session.
	Renewed func()
}

// Grace holds the time limits for ending a child, step by step.
type Grace struct {
	Exit time.Duration // from the end of its input to SIGTERM
	Term time.Duration // from SIGTERM to SIGKILL
	Kill time.Duration // from SIGKILL to the report that it cannot be killed
	Tell time.Duration // from the end of its output to its exit status
}

// Heard handles a notification that belongs to no request.
func (h *Host) Heard(method string, params []byte) {
	switch {
	case method == "notifications/subscriptions/acknowledged": // later notifications are not missed
		select {
		case h.Acked <- acknowledged(params):
		default: // no subscription waits
		}
	case h.Options.OnNotification != nil:
		h.Options.OnNotification(method, params)
	}
}

// acknowledged returns the id of the subscription that the server acknowledges, or 0 if the server
// does not name it.
func acknowledged(params []byte) int64 {
	meta, _ := rawjson.Member(params, "_meta")
	id, _ := rawjson.Member(meta, "io.modelcontextprotocol/subscriptionId")
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// HeardFrom is called when the proxy begins to receive the server's notifications.
func (h *Host) HeardFrom() {
	if h.Options.OnListen != nil {
		h.Options.OnListen()
	}
}
