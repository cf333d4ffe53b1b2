package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/petrigate/petrigate/internal/runtime/hook"
)

// A HookGate decides on calls that agents tell of by their hooks. An [operator.Proxy] may be one.
type HookGate interface {
	Hook(ctx context.Context, e hook.Request) (hook.Reply, error)
}

// maxHook is the largest number of bytes in an event; one that is longer is refused by the gate.
const maxHook = 9 << 20

// Principal is who the calls are of that agents tell of at the socket: the same as of a client
// over stdio.
const principal = "local"

// serveHook serves an event of an agent's hook, which is the body as the agent wrote it.
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

// A HookReply is what an agent is to be answered.
type HookReply struct {
	Output json.RawMessage `json:"output"`
	Denied string          `json:"denied,omitempty"` // why the call is refused; empty: it is not
}

// Hook passes an event of an agent's hook on. It waits where a person is asked.
func (c *Client) Hook(ctx context.Context, agent, session string, servers []string, event []byte) (reply HookReply, err error) {
	q := url.Values{"agent": {agent}, "server": servers}
	if session != "" {
		q.Set("session", session)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://petrigate/hook?"+q.Encode(), bytes.NewReader(event))
	if err != nil {
		return reply, err
	}
	err = c.exchange(request, &reply)
	if err == nil && len(reply.Output) == 0 {
		err = fmt.Errorf("the proxy at %s gave no answer that could be one", c.Path)
	}
	return reply, err
}
