package streamable

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// After maxStreamFailures consecutive failures to open the GET stream, the connection ends.
const maxStreamFailures = 3

// Listen keeps the GET stream open if the server uses revision 2025-11-25 and offers such a stream.
func (c *Conn) Listen(ctx context.Context) {
	lastID, deaf, pause := "", 0, conn.FirstPause
	for ctx.Err() == nil {
		s := c.Current.Load()
		began := time.Now()
		response, err := c.Get(ctx, s, lastID)
		switch {
		case err != nil:
			if deaf++; deaf >= maxStreamFailures && ctx.Err() == nil {
				c.Fail(c.TransportError(err))
				return
			}
		case response.StatusCode != http.StatusOK || MediaType(response.Header) != "text/event-stream":
			response.Body.Close()
			c.streamed.Send()
			if !c.awaitSession(ctx, s) {
				return
			}
			lastID, deaf = "", 0
			continue
		default:
			deaf = 0
			c.Host.HeardFrom()
			retry := time.Duration(0)
			c.streamed.Send()
			stop := c.closeWith(ctx, s, response.Body)
			lastID, retry = c.readGetStream(s, response)
			stop()
			if c.Current.Load() != s {
				lastID, pause = "", conn.FirstPause
				continue
			}
			if pause = max(retry, conn.FirstPause); time.Since(began) < time.Second {
				pause = max(retry, time.Second)
			}
		}
		if !wait.Sleep(ctx, min(pause, conn.LastPause)) {
			return
		}
		pause *= 2
		if now := c.Current.Load(); now != s {
			lastID = ""
		}
	}
}

// Redeclare opens a new session to declare the clients' new capabilities to the server. In-flight
// requests of the old session are not affected.
func (c *Conn) Redeclare(ctx context.Context) {
	select {
	case <-c.streamed: // discard a signal from the old session
	default:
	}
	if s := c.Current.Load(); s != nil && c.renew(ctx, s) == nil { // if renew fails, no new stream will open
		c.AwaitStream(ctx)
	}
}

// streamWait is the maximum time to wait for a new session's GET stream to open. Requests that the
// server sends before the stream is open might be lost.
const streamWait = 250 * time.Millisecond

func (c *Conn) AwaitStream(ctx context.Context) {
	select {
	case <-c.streamed:
	case <-time.After(streamWait):
	case <-ctx.Done():
	}
}

// awaitSession waits until another session has replaced s. It returns false if ctx is done first.
func (c *Conn) awaitSession(ctx context.Context, s *conn.Session) bool {
	for c.Current.Load() == s {
		if !wait.For(ctx, c.renewed) {
			return false
		}
	}
	return true
}

// closeWith starts a goroutine that closes body, the GET stream of the session s, as soon as
// another session has replaced s. The returned function stops the goroutine.
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

// readGetStream handles the stream's events until the stream ends. It returns the position for
// resuming the stream, and the delay requested by the server.
func (c *Conn) readGetStream(s *conn.Session, response *http.Response) (lastID string, retry time.Duration) {
	defer response.Body.Close()
	events := NewEventReader(response.Body, c.Host.Config.MaxMessage)
	stream := responseStream{c, nil, s, events}
	for {
		e, err := events.Next()
		if err != nil {
			return events.lastID, events.retry
		}
		if len(e.Data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.Data)
		stream.take(m, err)
	}
}
