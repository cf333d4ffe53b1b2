package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// listen hears what the server says on its own account, where that needs to
// be asked for: a subscription in the modern era, and a stream over HTTP in
// the old one. Stop ends it and waits.
func (u *Upstream) listen(ctx context.Context, c conn, a agreement) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	run := func() {}
	h, isHTTP := c.(*httpConn)
	switch {
	case a.era == Modern:
		run = func() { u.subscribe(ctx, c, a.capabilities) }
	case isHTTP:
		run = func() { h.listen(ctx) }
	}
	go func() {
		defer close(done)
		run()
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

// Watch sets the resources of whose changes a modern server is to tell. A
// legacy one wants requests for that, which are the caller's.
func (u *Upstream) Watch(uris []string) {
	u.watched.Store(&uris)
	poke(u.rewatch)
}

// poke puts a value into a channel that has room for one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// subscribe keeps a subscription open. Its answer comes when it ends. Where
// other resources are to be watched, the new one begins before the old one
// ends.
func (u *Upstream) subscribe(ctx context.Context, c conn, capabilities []byte) {
	s := subscription{upstream: u, conn: c, pause: firstPause}
	for {
		s.open(u.listenFilter(capabilities))
		if !s.follow(ctx) {
			s.end()
			return
		}
	}
}

// acknowledged is the id of the subscription that the server says it has begun;
// 0: it does not say of which.
func acknowledged(params []byte) int64 {
	meta, _ := rawjson.Member(params, "_meta")
	id, _ := rawjson.Member(meta, "io.modelcontextprotocol/subscriptionId")
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// subscription is the state of subscribe.
type subscription struct {
	upstream *Upstream
	conn     conn
	current  *Exchange // nil: there is nothing to ask for
	old      *Exchange // until current is acknowledged
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
	s.current = newExchange(Request{Method: "subscriptions/listen", Params: params}, u.host.ids.Add(1))
	s.current.use(s.conn)
	s.conn.send(s.current)
}

// follow returns true when the subscription is to be opened anew.
func (s *subscription) follow(ctx context.Context) bool {
	for {
		var done <-chan Reply
		if s.current != nil {
			done = s.current.done
		}
		select {
		case reply := <-done:
			return s.ended(ctx, reply)
		case id := <-s.upstream.host.acked: // from now on nothing is missed
			if s.current == nil || id != 0 && id != s.current.id {
				continue // it is of one before
			}
			if s.old != nil {
				s.old.Cancel("replaced")
				s.old = nil
			}
			if !s.caughtUp {
				s.caughtUp = true
				s.upstream.host.heardFrom()
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
func (s *subscription) ended(ctx context.Context, reply Reply) bool {
	s.current, s.caughtUp = nil, false
	if reply.Error != nil || errors.As(reply.Err, new(*StatusError)) {
		s.upstream.host.log.Debug("server offers no subscription", "error", reply.Err)
		return false
	}
	if time.Since(s.began) > stableAge {
		s.pause = firstPause
	}
	pause := s.pause
	s.pause = min(2*s.pause, lastPause)
	return sleep(ctx, pause)
}

func (s *subscription) end() {
	for _, x := range []*Exchange{s.old, s.current} {
		if x != nil {
			x.giveUp()
		}
	}
}

// heardFrom is called when the server's messages begin to be heard.
func (u *host) heardFrom() {
	if u.options.OnListen != nil {
		u.options.OnListen()
	}
}

// maxDeaf is how often in a row the stream may not be had before the server
// counts as lost.
const maxDeaf = 3

// listen holds the stream of a legacy server open, if it offers one.
func (c *httpConn) listen(ctx context.Context) {
	lastID, deaf, pause := "", 0, firstPause
	for ctx.Err() == nil {
		s := c.current.Load()
		began := time.Now()
		response, err := c.get(ctx, s, lastID)
		switch {
		case err != nil:
			if deaf++; deaf >= maxDeaf && ctx.Err() == nil {
				c.fail(c.transportError(err))
				return
			}
		case response.StatusCode != http.StatusOK || mediaType(response.Header) != "text/event-stream":
			response.Body.Close()
			poke(c.streamed)
			if !c.awaitSession(ctx, s) {
				return
			}
			lastID, deaf = "", 0
			continue
		default:
			deaf = 0
			c.host.heardFrom()
			retry := time.Duration(0)
			poke(c.streamed)
			stop := c.closeWith(ctx, s, response.Body)
			lastID, retry = c.overhear(s, response)
			stop()
			if c.current.Load() != s {
				lastID, pause = "", firstPause
				continue
			}
			if pause = max(retry, firstPause); time.Since(began) < time.Second {
				pause = max(retry, time.Second)
			}
		}
		if !sleep(ctx, min(pause, lastPause)) {
			return
		}
		pause *= 2
		if now := c.current.Load(); now != s {
			lastID = ""
		}
	}
}

// awaitSession waits until there is another session than s.
func (c *httpConn) awaitSession(ctx context.Context, s *session) bool {
	for c.current.Load() == s {
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
func (c *httpConn) closeWith(ctx context.Context, s *session, body io.Closer) (stop func()) {
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
func (c *httpConn) overhear(s *session, response *http.Response) (lastID string, retry time.Duration) {
	defer response.Body.Close()
	events := newEventReader(response.Body, c.host.config.MaxMessage)
	for {
		e, err := events.next()
		if err != nil {
			return events.lastID, events.retry
		}
		if len(e.data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.data)
		c.take(nil, s, m, err)
	}
}
