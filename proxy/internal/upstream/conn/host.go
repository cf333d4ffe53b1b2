package conn

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
)

// A Host is what a connection knows of the upstream that it belongs to. Its fields do
// not change once the upstream has started.
type Host struct {
	Config  Config
	Options Options
	Log     *slog.Logger
	Grace   Grace
	Client  *http.Client

	IDs     atomic.Int64 // of requests and progress tokens
	Headers paramHeaders
	Words   words // of its process
	Work    work  // goroutines that outlive a connection

	Acked chan int64 // gets the id of a subscription that is acknowledged; 0: it is not known

	Era func() Era // of the server, as far as it is known

	// renew shakes hands once more on c, whose session the server has forgotten.
	Renew func(ctx context.Context, c Conn, version string) (*Session, error)
	// renewed is told once c uses the new session.
	Renewed func()
}
