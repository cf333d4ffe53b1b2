package relay_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// changing is a setup whose only upstream is a child with resources that can be watched.
func changing(t *testing.T) proxytest.Setup {
	up, _ := proxytest.ChildUpstream(t, `--capabilities {"logging":{},"tools":{"listChanged":true},"resources":{"subscribe":true}}`)
	return proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }}
}

// loud returns the arguments of lie for n notifications of a method, of 100 kB each.
func loud(n int, method, params string) string {
	one := `{"jsonrpc":"2.0","method":"` + method + `","params":{` + params + `,"x":"` + strings.Repeat("x", 100_000) + `"}}`
	return `{"messages":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `],"result":{"content":[]}}`
}

// TestListChangedFlood: D009. However often an upstream announces that its tools have changed, the
// rate of tools/list requests and of notifications to clients is limited.
func TestListChangedFlood(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.ListenToPushes()
		c.List()
		if l.Modern {
			c.Ask("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
			c.AwaitRequest("notifications/subscriptions/acknowledged")
		}
		awaitListeners(s)
		asked := func() (n int) {
			for _, r := range s.Log.Records(testserver.Received) {
				if strings.Contains(string(r.Bytes), `"tools/list"`) {
					n++
				}
			}
			return n
		}
		told := func() int {
			return c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "notifications/tools/list_changed" })
		}
		before, since := asked(), time.Now()
		for range 3000 {
			s.Upstream.Notify("notifications/tools/list_changed", `{}`)
		}
		s.Eventually("the client is told", func() bool {
			s.Upstream.Notify("notifications/tools/list_changed", `{}`) // the first one can hit a connection that was replaced
			return told() > 0
		})
		c.Must("safe", `{}`)
		listed, heard := asked()-before, told()
		if most := int(time.Since(since)/(50*time.Millisecond)) + 2; listed > most || heard > most { // fewer on slower machines
			t.Errorf("3000 announcements: asked for %d times and told %d times, want at most %d", listed, heard, most)
		}
	})
}

// deaf opens a connection, sends a request and reads only the header of the response.
func deaf(s *proxytest.Site, head, body string) {
	s.T.Helper()
	conn, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := fmt.Fprintf(conn, "%s\r\nHost: localhost:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		head, s.HTTP.Listener.Addr().(*net.TCPAddr).Port, proxytest.Token, len(body), body); err != nil {
		s.T.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		s.T.Fatalf("%v %v", response, err)
	}
}

// TestDeafSubscriber: D009, E010, F022. A client that does not read its subscription does not block
// the upstream for others.
func TestDeafSubscriber(t *testing.T) {
	soak.Bulk(t)
	t.Parallel()
	s := proxytest.Start(t, changing(t))
	c := s.Connect(proxytest.Legs()[2], "")
	deaf(s, "POST /mcp HTTP/1.1\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nAccept: text/event-stream",
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{`+c.Meta("")+`"notifications":{"resourceSubscriptions":["a:1"]}}}`)
	for range 2 { // more than the buffers of a connection hold
		c.Must("lie", loud(30, "notifications/resources/updated", `"uri":"a:1"`))
	}
	c.Must("safe", `{}`)
}

// TestDeafOlderClient: the same for a client of revision 2024-11-05, which does not read the
// answers to its own calls either.
func TestDeafOlderClient(t *testing.T) {
	soak.Bulk(t)
	t.Parallel()
	s := proxytest.Start(t, changing(t))
	c := s.Connect(proxytest.Legs()[1], "")
	conn, where := olderConn(s)
	const calls = 3 // answers larger than the buffers of a connection
	for i := range calls {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"safe","arguments":{"a":"%s"}}}`, i, strings.Repeat("x", 3<<20))
		if status, _, _ := s.Fetch(proxytest.HTTPRequest{Method: "POST", Path: where, Body: body, Header: http.Header{"Authorization": {"Bearer " + proxytest.Token}, "Content-Type": {"application/json"}}}); status != http.StatusAccepted {
			t.Fatal(status)
		}
	}
	s.Eventually("all of them are answered", func() bool { return len(s.Records.Outcomes()) == calls })
	c.Must("safe", `{}`)
	_ = conn.Close()
	c.Must("safe", `{}`)
}

// olderConn opens a stream of revision 2024-11-05 and reads its first event.
func olderConn(s *proxytest.Site) (conn net.Conn, where string) {
	s.T.Helper()
	conn, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = conn.Close() })
	_, _ = fmt.Fprintf(conn, "GET /sse HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", conn.RemoteAddr(), proxytest.Token)
	r := bufio.NewReaderSize(conn, 16)
	for where == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			s.T.Fatal(err)
		}
		_, where, _ = strings.Cut(strings.TrimSpace(line), "data: ")
	}
	return conn, where
}
