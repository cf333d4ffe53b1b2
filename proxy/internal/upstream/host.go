package upstream

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
)

// A host is what a connection knows of the upstream that it belongs to. Its fields do
// not change once the upstream has started.
type host struct {
	config  Config
	options Options
	log     *slog.Logger
	grace   grace
	client  *http.Client

	ids     atomic.Int64 // of requests and progress tokens
	headers paramHeaders
	words   words // of its process
	work    work  // goroutines that outlive a connection

	acked chan int64 // gets the id of a subscription that is acknowledged; 0: it is not known

	era func() Era // of the server, as far as it is known

	// renew shakes hands once more on c, whose session the server has forgotten.
	renew func(ctx context.Context, c conn, version string) (*session, error)
	// renewed is told once c uses the new session.
	renewed func()
}
