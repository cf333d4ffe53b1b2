package testserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
)

// A conn is a connection to one client: either a pair of streams or a session over HTTP.
type conn struct {
	mu           sync.Mutex
	inflight     map[string]context.CancelCauseFunc // functions that cancel in-flight requests, keyed by request ID
	pending      map[string]chan json.RawMessage    // channels for the responses to requests sent to the client, keyed by request ID
	capabilities map[string]json.RawMessage         // capabilities declared by the client in initialize
}

// An exchange holds the connection that has received a message, and a function for sending messages
// that relate to this message.
type exchange struct {
	conn   *conn
	send   func(message []byte)
	modern bool
}

func newConn() *conn {
	return &conn{inflight: map[string]context.CancelCauseFunc{}, pending: map[string]chan json.RawMessage{}}
}

// declare stores the capabilities declared in an initialize request.
func (c *conn) declare(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capabilities = object(m.params["capabilities"])
}

// declared returns the client capabilities declared in the request or, if the request declares
// none, in initialize.
func (c *conn) declared(m message) map[string]json.RawMessage {
	if own := object(m.params["_meta"])[metaCapabilities]; own != nil {
		return object(own)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

// begin registers a request as being in flight, so that the client can cancel it. The caller must
// call the returned function when the request ends.
func (c *conn) begin(ctx context.Context, id json.RawMessage) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inflight[string(id)] = cancel
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.inflight, string(id))
		cancel(nil)
	}
}

func (c *conn) cancel(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.inflight[string(id)]; cancel != nil {
		cancel(errCancelled)
	}
}

// newRequest allocates an ID for a request to the client, and a channel for the response.
func (c *conn) newRequest() (id string, answer chan json.RawMessage) {
	answer = make(chan json.RawMessage, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	id = strconv.Itoa(len(c.pending) + 1)
	c.pending[id] = answer
	return id, answer
}

// deliver passes a client's response to the goroutine waiting for it. Responses to unknown requests
// are dropped.
func (c *conn) deliver(id json.RawMessage, raw []byte) {
	c.mu.Lock()
	answer := c.pending[string(id)]
	c.mu.Unlock()
	if answer == nil {
		return
	}
	select {
	case answer <- slices.Clone(json.RawMessage(raw)):
	default: // drop further responses to the same request
	}
}

var (
	errCancelled = errors.New("cancelled by the client")

	// ErrSilent makes a call end without a response.
	ErrSilent = errors.New("no answer")

	// ErrDie makes a call end the connection instead of answering. ServeStdio then returns this
	// error; over HTTP, the connection is closed.
	ErrDie = errors.New("the server dies")
)
