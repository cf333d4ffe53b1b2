package relay_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestResourceUpdates: changes of a resource are announced only to the clients that watch it.
func TestResourceUpdates(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{
			"resources/subscribe": proxytest.ConstantMethod(`{}`), "resources/unsubscribe": proxytest.ConstantMethod(`{}`),
		}}})
		c, other := s.Connect(l, ""), s.Connect(proxytest.Legs()[1], "")
		c.ListenToPushes()
		other.ListenToPushes()
		id := ""
		if l.Modern {
			id = c.Ask("subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:1"]}`)
			c.AwaitRequest("notifications/subscriptions/acknowledged")
			s.Eventually("it is subscribed", func() bool { return s.LastReceived("resources/subscribe") != "" })
		} else if r := c.Request("resources/subscribe", `"uri":"a:1"`); string(r.Result) != `{}` {
			t.Fatalf("%s", r.Raw)
		}
		awaitListeners(s)
		s.Upstream.Notify("notifications/resources/updated", `{"uri":"b:1"}`)
		s.Upstream.Notify("notifications/resources/updated", `{"uri":"a:1","x":1.0}`)
		news := c.AwaitRequest("notifications/resources/updated")
		if proxytest.Member(news.Params, "uri") != `"a:1"` || proxytest.Member(news.Params, "x") != "1.0" || proxytest.Member(news.Params, "_meta", "io.modelcontextprotocol/subscriptionId") != id {
			t.Errorf("%s", news.Raw)
		}
		if n := other.Mail.Count(func(m proxytest.Message) bool { return m.Method != "" }); n != 0 {
			t.Errorf("%s", other.Mail)
		}
	})
}

// awaitListeners waits until the upstream has a listener for notifications.
func awaitListeners(s *proxytest.Site) {
	s.T.Helper()
	s.Eventually("the upstream is listened to", func() bool { return len(s.Log.Records(testserver.Subscribed)) > 0 })
}

// TestListsChange: a client is notified of changes to the lists that it has fetched.
func TestListsChange(t *testing.T) {
	t.Parallel()
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: era, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{"prompts/list": proxytest.ConstantMethod(`{"prompts":[]}`)}}})
		c := s.Connect(l, "")
		c.ListenToPushes()
		if l.Modern {
			c.Ask("subscriptions/listen", `"notifications":{"promptsListChanged":true}`)
			c.AwaitRequest("notifications/subscriptions/acknowledged")
		} else {
			c.Request("prompts/list", `"x":0`)
		}
		awaitListeners(s)
		s.Upstream.Notify("notifications/resources/list_changed", `{}`)
		s.Upstream.Notify("notifications/prompts/list_changed", `{}`)
		c.AwaitRequest("notifications/prompts/list_changed")
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "notifications/resources/list_changed" }); n != 0 {
			t.Errorf("%s", c.Mail)
		}
	})
}

// breaking is an upstream over HTTP that ends the stream of each call before its answer, and sends
// the answer to the client that resumes the stream.
func breaking(t *testing.T) proxy.Upstream {
	var calls atomic.Int64
	inner := testserver.New(testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.Runnable(testserver.Tool{Name: "work"})}})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "e1" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[],\"late\":true}}\n\n", calls.Load())
			return
		}
		body := new(strings.Builder)
		_, _ = bufio.NewReader(r.Body).WriteTo(body)
		if id := proxytest.Member([]byte(body.String()), "id"); proxytest.Member([]byte(body.String()), "method") == `"tools/call"` {
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{breaking(t)} }})
		c := s.Connect(l, "")
		id := c.Call("work", `{}`)
		if l.HTTP && !l.Modern {
			takeUp(c)
		}
		if r := c.Reply(id); proxytest.Member(r.Result, "late") != "true" {
			t.Errorf("%s", r.Raw)
		}
		if n := s.OpenCalls(); n != 0 {
			t.Errorf("%d calls are open", n)
		}
	})
}

// takeUp waits for the end of a stream without an answer, and requests the rest.
func takeUp(c *proxytest.Client) {
	c.T.Helper()
	c.Await("the first event", func(m proxytest.Message) bool { return len(m.Raw) == 0 && m.Status == http.StatusOK })
	c.Resume("1_0")
}
