package proxy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestResourceUpdates: changes of a resource are announced only to the clients that watch it.
func TestResourceUpdates(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Capabilities: whole, Methods: map[string]testserver.Method{
			"resources/subscribe": says(`{}`), "resources/unsubscribe": says(`{}`),
		}}})
		c, other := s.connect(l, ""), s.connect(legs()[1], "")
		c.listenToPushes()
		other.listenToPushes()
		id := ""
		if l.modern {
			id = c.ask("subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:1"]}`)
			c.questioned("notifications/subscriptions/acknowledged")
			s.eventually("it is subscribed", func() bool { return s.received("resources/subscribe") != "" })
		} else if r := c.request("resources/subscribe", `"uri":"a:1"`); string(r.result) != `{}` {
			t.Fatalf("%s", r.raw)
		}
		s.awaitListeners()
		s.upstream.Notify("notifications/resources/updated", `{"uri":"b:1"}`)
		s.upstream.Notify("notifications/resources/updated", `{"uri":"a:1","x":1.0}`)
		news := c.questioned("notifications/resources/updated")
		if at(news.params, "uri") != `"a:1"` || at(news.params, "x") != "1.0" || at(news.params, "_meta", "io.modelcontextprotocol/subscriptionId") != id {
			t.Errorf("%s", news.raw)
		}
		if n := other.mail.count(func(m message) bool { return m.method != "" }); n != 0 {
			t.Errorf("%s", other.mail)
		}
	})
}

// awaitListeners waits until the upstream has a listener for notifications.
func (s *site) awaitListeners() {
	s.t.Helper()
	s.eventually("the upstream is listened to", func() bool { return len(s.log.Records(testserver.Subscribed)) > 0 })
}

// TestListsChange: a client is notified of changes to the lists that it has fetched.
func TestListsChange(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, l leg, era testserver.Eras) {
		s := start(t, setup{server: testserver.Options{Eras: era, Capabilities: whole, Methods: map[string]testserver.Method{"prompts/list": says(`{"prompts":[]}`)}}})
		c := s.connect(l, "")
		c.listenToPushes()
		if l.modern {
			c.ask("subscriptions/listen", `"notifications":{"promptsListChanged":true}`)
			c.questioned("notifications/subscriptions/acknowledged")
		} else {
			c.request("prompts/list", `"x":0`)
		}
		s.awaitListeners()
		s.upstream.Notify("notifications/resources/list_changed", `{}`)
		s.upstream.Notify("notifications/prompts/list_changed", `{}`)
		c.questioned("notifications/prompts/list_changed")
		if n := c.mail.count(func(m message) bool { return m.method == "notifications/resources/list_changed" }); n != 0 {
			t.Errorf("%s", c.mail)
		}
	})
}

// breaking is an upstream over HTTP that ends the stream of each call before its answer, and sends
// the answer to the client that resumes the stream.
func breaking(t *testing.T) proxy.Upstream {
	var calls atomic.Int64
	inner := testserver.New(testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{running(testserver.Tool{Name: "work"})}})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "e1" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[],\"late\":true}}\n\n", calls.Load())
			return
		}
		body := new(strings.Builder)
		_, _ = bufio.NewReader(r.Body).WriteTo(body)
		if id := at([]byte(body.String()), "id"); at([]byte(body.String()), "method") == `"tools/call"` {
			var n int64
			_ = json.Unmarshal([]byte(id), &n)
			calls.Store(n)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, "id: e1\nretry: 5\ndata: \n\n")
			return
		}
		r.Body = http.MaxBytesReader(w, readCloser{strings.NewReader(body.String())}, 1<<20)
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		up.CloseClientConnections()
		up.Close()
	})
	return proxy.Upstream{Name: "up", URL: up.URL}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// TestStreamIsTakenUp: if an upstream of 2025-11-25 lets a stream be resumed later, so does the
// proxy; a client that cannot resume just waits.
func TestStreamIsTakenUp(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{breaking(t)} }})
		c := s.connect(l, "")
		id := c.call("work", `{}`)
		if l.http && !l.modern {
			c.takeUp()
		}
		if r := c.reply(id); at(r.result, "late") != "true" {
			t.Errorf("%s", r.raw)
		}
		if n := s.openCalls(); n != 0 {
			t.Errorf("%d calls are open", n)
		}
	})
}

// takeUp waits for the end of a stream without an answer, and requests the rest.
func (c *client) takeUp() {
	c.t.Helper()
	c.await("the first event", func(m message) bool { return len(m.raw) == 0 && m.status == http.StatusOK })
	c.resume("1_0")
}
