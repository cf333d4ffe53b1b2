package testserver

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
)

// A conn is the connection to one client: a pair of streams, or a session over HTTP.
type conn struct {
	mu           sync.Mutex
	inflight     map[string]context.CancelCauseFunc // by the bytes of the id
	pending      map[string]chan json.RawMessage    // requests to the client, by the bytes of the id
	capabilities map[string]json.RawMessage         // declared by the client in initialize
}

// An exchange is the context of one message: the connection it came from, and the function that
// sends messages related to it.
type exchange struct {
	conn   *conn
	send   func(message []byte)
	modern bool
}

func newConn() *conn { return &conn{inflight: map[string]context.CancelCauseFunc{}} }

// declare stores the capabilities declared in initialize.
func (c *conn) declare(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capabilities = object(m.params["capabilities"])
}

// declared returns the capabilities that the client declared with the request or else in
// initialize.
func (c *conn) declared(m message) map[string]json.RawMessage {
	if own := object(m.params["_meta"])[metaCapabilities]; own != nil {
		return object(own)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

// begin registers an in-flight request, so that a cancellation finds it.
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

// newRequest returns the id of a new request to the client and the channel for its response.
func (c *conn) newRequest() (id string, answer chan json.RawMessage) {
	answer = make(chan json.RawMessage, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		c.pending = map[string]chan json.RawMessage{}
	}
	id = strconv.Itoa(len(c.pending) + 1)
	c.pending[id] = answer
	return id, answer
}

// deliver passes on a response of the client. It drops a response to an unknown request.
func (c *conn) deliver(id json.RawMessage, raw []byte) {
	c.mu.Lock()
	answer := c.pending[string(id)]
	c.mu.Unlock()
	if answer == nil {
		return
	}
	select {
	case answer <- append(json.RawMessage(nil), raw...):
	default: // a second response is dropped
	}
}

var (
	errCancelled = errors.New("cancelled by the client")

	// ErrSilent makes a call end without a response.
	ErrSilent = errors.New("no answer")

	// ErrDie makes a call end the connection instead of answering: ServeStdio returns it, and over
	// HTTP the connection is closed.
	ErrDie = errors.New("the server dies")
)
