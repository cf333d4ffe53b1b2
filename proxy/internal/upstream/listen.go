package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
)

// listen hears what the server says on its own account, where that needs to
// be asked for: a subscription of 2026-07-28, and a stream over HTTP before that.
// Stop ends it and waits.
func (u *Upstream) listen(ctx context.Context, c conn.Conn, a agreement) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if a.Rev().Subscriptions {
			u.subscribe(ctx, c, a.Capabilities)
		} else if h, isHTTP := c.(*streamable.Conn); isHTTP {
			h.Listen(ctx)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// listenFilter is the notifications to ask for: of all lists that can change,
// and of the resources that are watched. nil: there is nothing to ask for.
func (u *Upstream) listenFilter(capabilities []byte) []byte {
	b := []byte(`{`)
	for _, list := range []string{"tools", "prompts", "resources"} {
		if canChange(capabilities, list) {
			b = append(b, `"`+list+`ListChanged":true,`...)
		}
	}
	if uris := u.watched.Load(); uris != nil && len(*uris) > 0 {
		b = append(b, `"resourceSubscriptions":[`...)
		for _, uri := range *uris {
			b = append(rawjson.AppendString(b, uri), ',')
		}
		b = append(b[:len(b)-1], `],`...)
	}
	if len(b) == 1 {
		return nil
	}
	b[len(b)-1] = '}'
	return b
}

func canChange(capabilities []byte, list string) bool {
	of, _ := rawjson.Member(capabilities, list)
	changes, _ := rawjson.Member(of, "listChanged")
	return string(changes) == "true"
}

// Watch sets the resources of whose changes a server of 2026-07-28 is to tell. One
// of 2025-11-25 expects requests for that, which are the caller's.
func (u *Upstream) Watch(uris []string) {
	u.watched.Store(&uris)
	conn.Poke(u.rewatch)
}

// subscribe keeps a subscription open. Its answer comes when it ends. Where
// other resources are to be watched, the new one begins before the old one
// ends.
func (u *Upstream) subscribe(ctx context.Context, c conn.Conn, capabilities []byte) {
	s := subscription{upstream: u, conn: c, pause: conn.FirstPause}
	for {
		s.open(u.listenFilter(capabilities))
		if !s.follow(ctx) {
			s.end()
			return
		}
	}
}

// subscription is the state of subscribe.
type subscription struct {
	upstream *Upstream
	conn     conn.Conn
	current  *conn.Exchange // nil: there is nothing to ask for
	old      *conn.Exchange // until current is acknowledged
	began    time.Time
	pause    time.Duration
	caughtUp bool // it was acknowledged before
}

func (s *subscription) open(filter []byte) {
	if filter == nil {
		return
	}
	u := s.upstream
	params := append([]byte(`{"_meta":{`), u.ownMeta(nil)...)
	params = append(append(append(params, `},"notifications":`...), filter...), '}')
	s.began = time.Now()
	s.current = conn.NewExchange(conn.Request{Method: "subscriptions/listen", Params: params}, u.host.IDs.Add(1))
	s.current.Use(s.conn)
	s.conn.Send(s.current)
}

// follow returns true when the subscription is to be opened anew.
func (s *subscription) follow(ctx context.Context) bool {
	for {
		var done <-chan conn.Reply
		if s.current != nil {
			done = s.current.Done()
		}
		select {
		case reply := <-done:
			return s.ended(ctx, reply)
		case id := <-s.upstream.host.Acked: // from now on nothing is missed
			if s.current == nil || id != 0 && id != s.current.ID {
				continue // it is of one before
			}
			if s.old != nil {
				s.old.Cancel("replaced")
				s.old = nil
			}
			if !s.caughtUp {
				s.caughtUp = true
				s.upstream.host.HeardFrom()
			}
		case <-s.upstream.rewatch:
			if s.old != nil {
				s.old.Cancel("replaced")
			}
			s.old, s.current = s.current, nil
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// ended waits before the next attempt; false: there is to be none.
func (s *subscription) ended(ctx context.Context, reply conn.Reply) bool {
	s.current, s.caughtUp = nil, false
	if reply.Error != nil || errors.As(reply.Err, new(*conn.StatusError)) {
		s.upstream.host.Log.Debug("server offers no subscription", "error", reply.Err)
		return false
	}
	if time.Since(s.began) > conn.StableAge {
		s.pause = conn.FirstPause
	}
	defer func() { s.pause = min(2*s.pause, conn.LastPause) }()
	return conn.Sleep(ctx, s.pause)
}

func (s *subscription) end() {
	for _, x := range []*conn.Exchange{s.old, s.current} {
		if x != nil {
			x.GiveUp()
		}
	}
}
