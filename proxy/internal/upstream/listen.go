package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// listen starts to receive, in the background, the notifications that a server sends only on
// request. They arrive on a subscription (2026-07-28) or, over streamable HTTP in revision
// 2025-11-25, on a GET stream. The stop function ends the background goroutine and waits until it
// has ended.
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

// listenFilter returns the filter for a subscription. The filter selects changes to the watched
// resources, and to the lists that the server declares with listChanged. If nothing is selected,
// listenFilter returns nil.
func (u *Upstream) listenFilter(capabilities []byte) []byte {
	var filter rawjson.Object
	for _, list := range []string{"tools", "prompts", "resources"} {
		if changes, _ := rawjson.MemberAt(capabilities, list, "listChanged"); string(changes) == "true" {
			filter = filter.Raw(list+"ListChanged", []byte("true"))
		}
	}
	if uris := u.watched.Load(); uris != nil && len(*uris) > 0 {
		filter = filter.Raw("resourceSubscriptions", rawjson.StringArray(*uris))
	}
	if filter == nil {
		return nil
	}
	return filter.Bytes()
}

// Watch sets the resources to watch. A server that uses revision 2026-07-28 then notifies the proxy
// when they change. For revision 2025-11-25, the caller must send resources/subscribe requests
// instead.
func (u *Upstream) Watch(uris []string) {
	u.watched.Store(&uris)
	u.rewatch.Send()
}

// subscribe keeps a subscription open. The server responds to subscriptions/listen only when the
// subscription ends. When the set of watched resources changes, subscribe opens a new subscription
// before it ends the old one.
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

// A subscription holds the variables that [Upstream.subscribe] shares with the methods below.
type subscription struct {
	upstream *Upstream
	conn     conn.Conn
	current  *conn.Exchange // current subscription; nil if its filter would be empty
	old      *conn.Exchange // previous subscription, kept open until current has been acknowledged
	began    time.Time
	pause    time.Duration
	caughtUp bool // whether HeardFrom has been called since the last subscription was lost
}

// open opens a subscription with the given filter. If the filter is nil, open only ends the old
// subscription.
func (s *subscription) open(filter []byte) {
	if filter == nil {
		s.endOld()
		return
	}
	u := s.upstream
	params := append([]byte(`{"_meta":{`), u.ownMeta(nil)...)
	params = append(append(append(params, `},"notifications":`...), filter...), '}')
	s.began = time.Now()
	s.current = conn.NewExchange(s.conn, conn.Request{Method: "subscriptions/listen", Params: params}, u.host.IDs.Add(1))
	s.conn.Send(s.current)
}

// follow waits until the subscription ends or the watched resources change. It reports whether a
// new subscription must be opened.
func (s *subscription) follow(ctx context.Context) bool {
	for {
		var done <-chan conn.Reply
		if s.current != nil {
			done = s.current.Done()
		}
		select {
		case reply := <-done:
			return s.ended(ctx, reply)
		case id := <-s.upstream.host.Acked: // from now on, the proxy receives all notifications
			if s.current == nil || id != 0 && id != s.current.ID {
				continue // ignore the acknowledgment of an earlier subscription
			}
			s.endOld()
			if !s.caughtUp {
				s.caughtUp = true
				s.upstream.host.HeardFrom()
			}
		case <-s.upstream.rewatch:
			s.endOld()
			s.old, s.current = s.current, nil
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// endOld ends the previous subscription, if it is still open.
func (s *subscription) endOld() {
	if s.old != nil {
		s.old.Cancel("replaced")
		s.old = nil
	}
}

// ended handles the end of the current subscription, and waits until it is time to subscribe again.
// It returns false if the server does not support subscriptions, or if ctx is done.
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
	return wait.Sleep(ctx, s.pause)
}

func (s *subscription) end() {
	for _, x := range []*conn.Exchange{s.old, s.current} {
		if x != nil {
			x.GiveUp()
		}
	}
}
