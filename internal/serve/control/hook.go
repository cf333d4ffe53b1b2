package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/internal/runtime/hook"
)

// A HookGate decides whether the calls that agents report through hooks may run. An
// [operator.Proxy] may implement it.
type HookGate interface {
	Hook(ctx context.Context, e hook.Request) (hook.Reply, error)
}

// maxHook is the maximum size of a request body in bytes. It exceeds the gate's own limit on
// events, so that the gate can refuse an event that is too long.
const maxHook = 9 << 20

// principal identifies the caller of all calls that agents report through the socket. Calls over
// stdio have the same principal.
const principal = "local"

// serveHook returns a handler for hook events. The request body is the event, exactly as written by
// the agent.
func serveHook(g HookGate) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxHook))
		if err != nil {
			respond(w, nil, fmt.Errorf("reading the event: %w", err))
			return
		}
		q := r.URL.Query()
		reply, err := g.Hook(r.Context(), hook.Request{
			Agent: q.Get("agent"), Principal: principal, Session: q.Get("session"), Servers: q["server"], Event: event,
		})
		respond(w, HookReply{Output: reply.Output, Denied: reply.Denied}, err)
	}
}

// A HookReply is the reply to a hook event. The hook process passes the reply on to the agent.
type HookReply struct {
	Output json.RawMessage `json:"output"`
	Denied string          `json:"denied,omitempty"` // reason for refusing the call; empty if the call is allowed
}
