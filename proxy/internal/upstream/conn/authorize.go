package conn

import (
	"context"
	"net/http"
)

// Credentials say in whose name requests to a server over HTTP are made, where
// that changes with time. Their methods are called from any goroutine.
type Credentials interface {
	// Authorization is the header of that name for the next request; "": none.
	Authorization(ctx context.Context) (string, error)
	// Renew is told how the server turned a request away that had this header.
	// It returns the header to send it with once more, or "" where another one
	// would change nothing.
	Renew(ctx context.Context, refused string, response *http.Response) (string, error)
	// Await returns when it may be of use to try again after there were none, or
	// when ctx ends.
	Await(ctx context.Context)
}
