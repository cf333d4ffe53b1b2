package streamable

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxDeaf is how often in a row the stream may not be had before the server
// counts as lost.
const maxDeaf = 3

// Listen holds the stream of a server of 2025-11-25 open, if it offers one.
func (c *Conn) Listen(ctx context.Context) {
	lastID, deaf, pause := "", 0, conn.FirstPause
	for ctx.Err() == nil {
		s := c.Current.Load()
		began := time.Now()
		response, err := c.Get(ctx, s, lastID)
		switch {
		case err != nil:
			if deaf++; deaf >= maxDeaf && ctx.Err() == nil {
				c.Fail(c.TransportError(err))
				return
			}
		case response.StatusCode != http.StatusOK || MediaType(response.Header) != "text/event-stream":
			response.Body.Close()
			conn.Poke(c.streamed)
			if !c.awaitSession(ctx, s) {
				return
			}
			lastID, deaf = "", 0
			continue
		default:
			deaf = 0
			c.Host.HeardFrom()
			retry := time.Duration(0)
			conn.Poke(c.streamed)
			stop := c.closeWith(ctx, s, response.Body)
			lastID, retry = c.overhear(s, response)
			stop()
			if c.Current.Load() != s {
				lastID, pause = "", conn.FirstPause
				continue
			}
			if pause = max(retry, conn.FirstPause); time.Since(began) < time.Second {
				pause = max(retry, time.Second)
			}
		}
		if !conn.Sleep(ctx, min(pause, conn.LastPause)) {
			return
		}
		pause *= 2
		if now := c.Current.Load(); now != s {
			lastID = ""
		}
	}
}

// Redeclare declares more in a new session, beside the old one.
func (c *Conn) Redeclare(ctx context.Context) {
	select {
	case <-c.streamed: // that was the old one
	default:
	}
	if s := c.Current.Load(); s != nil && c.renew(ctx, s) == nil { // else the old session stays
		c.AwaitStream(ctx)
	}
}

// streamWait bounds the wait for the stream of a new session, on which servers
// ask what belongs to no request, as some do with what belongs to one.
const streamWait = 250 * time.Millisecond

func (c *Conn) AwaitStream(ctx context.Context) {
	select {
	case <-c.streamed:
	case <-time.After(streamWait):
	case <-ctx.Done():
	}
}

// awaitSession waits until there is another session than s.
func (c *Conn) awaitSession(ctx context.Context, s *conn.Session) bool {
	for c.Current.Load() == s {
		select {
		case <-c.renewed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// closeWith closes the stream of a session when another one takes its place,
// until stop is called.
func (c *Conn) closeWith(ctx context.Context, s *conn.Session, body io.Closer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.awaitSession(ctx, s) {
			_ = body.Close()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// overhear takes the events of the stream until it ends. It returns where the
// stream can be taken up again, and when the server wants that.
func (c *Conn) overhear(s *conn.Session, response *http.Response) (lastID string, retry time.Duration) {
	defer response.Body.Close()
	events := NewEventReader(response.Body, c.Host.Config.MaxMessage)
	for {
		e, err := events.Next()
		if err != nil {
			return events.lastID, events.retry
		}
		if len(e.Data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.Data)
		c.take(nil, s, m, err)
	}
}
