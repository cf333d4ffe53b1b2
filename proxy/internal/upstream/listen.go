package upstream

import (
	"context"
	"errors"
	"net/http"
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
		if filter := listenFilter(a.capabilities); filter != nil {
			run = func() { u.subscribe(ctx, c, filter) }
		}
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

// listenFilter is the notifications to ask for: of all lists that can change.
func listenFilter(capabilities []byte) []byte {
	b := []byte(`{`)
	for _, list := range []string{"tools", "prompts", "resources"} {
		if canChange(capabilities, list) {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(b, `"`+list+`ListChanged":true`...)
		}
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, '}')
}

func canChange(capabilities []byte, list string) bool {
	of, _ := rawjson.Member(capabilities, list)
	changes, _ := rawjson.Member(of, "listChanged")
	return string(changes) == "true"
}

// subscribe keeps a subscription open. Its answer comes when it ends.
func (u *Upstream) subscribe(ctx context.Context, c conn, filter []byte) {
	params := append([]byte(`{"_meta":{`), u.meta...)
	params = append(append(append(params, `},"notifications":`...), filter...), '}')
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		began := time.Now()
		x := newExchange(Request{Method: "subscriptions/listen", Params: params}, u.ids.Add(1))
		x.use(c)
		c.send(x)
		var reply Reply
		select {
		case reply = <-x.done:
		case <-ctx.Done():
			x.giveUp()
			return
		}
		if reply.Error != nil || errors.As(reply.Err, new(*StatusError)) {
			u.log.Debug("server offers no subscription", "error", reply.Err)
			return
		}
		if time.Since(began) > stableAge {
			pause = firstPause
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// missed stands in for what may have been said before somebody listened.
func (u *Upstream) missed() {
	capabilities := u.State().Capabilities
	for _, list := range []string{"tools", "prompts", "resources"} {
		if canChange(capabilities, list) {
			u.heard("notifications/"+list+"/list_changed", nil)
		}
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
			if !c.awaitSession(ctx, s) {
				return
			}
			lastID, deaf = "", 0
			continue
		default:
			deaf = 0
			c.upstream.missed()
			retry := time.Duration(0)
			lastID, retry = c.overhear(s, response)
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

// overhear takes the events of the stream until it ends. It returns where the
// stream can be taken up again, and when the server wants that.
func (c *httpConn) overhear(s *session, response *http.Response) (lastID string, retry time.Duration) {
	defer response.Body.Close()
	events := newEventReader(response.Body, c.upstream.config.MaxMessage)
	for {
		e, err := events.next()
		if err != nil {
			return events.lastID, events.retry
		}
		if len(e.data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.data)
		c.take(s, m, err)
	}
}
