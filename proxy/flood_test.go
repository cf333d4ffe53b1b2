package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// changing is a setup whose only upstream is a child with resources that can be watched.
func changing(t *testing.T) setup {
	up, _ := child(t, `--capabilities {"logging":{},"tools":{"listChanged":true},"resources":{"subscribe":true}}`)
	return setup{rules: "block danger\n", change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }}
}

// loud returns the arguments of lie for n notifications of a method, of 100 kB each.
func loud(n int, method, params string) string {
	one := `{"jsonrpc":"2.0","method":"` + method + `","params":{` + params + `,"x":"` + strings.Repeat("x", 100_000) + `"}}`
	return `{"messages":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `],"result":{"content":[]}}`
}

// TestListChangedFlood: D009. However often an upstream announces that its tools have changed, the
// rate of tools/list requests and of notifications to clients is limited.
func TestListChangedFlood(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.listenToPushes()
		c.list()
		if l.modern {
			c.ask("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
			c.questioned("notifications/subscriptions/acknowledged")
		}
		s.awaitListeners()
		asked := func() (n int) {
			for _, r := range s.log.Records(testserver.Received) {
				if strings.Contains(string(r.Bytes), `"tools/list"`) {
					n++
				}
			}
			return n
		}
		told := func() int {
			return c.mail.count(func(m message) bool { return m.method == "notifications/tools/list_changed" })
		}
		before, since := asked(), time.Now()
		for range 3000 {
			s.upstream.Notify("notifications/tools/list_changed", `{}`)
		}
		s.eventually("the client is told", func() bool {
			s.upstream.Notify("notifications/tools/list_changed", `{}`) // the first one can hit a connection that was replaced
			return told() > 0
		})
		c.must("safe", `{}`)
		listed, heard := asked()-before, told()
		if most := int(time.Since(since)/(50*time.Millisecond)) + 2; listed > most || heard > most { // fewer on slower machines
			t.Errorf("3000 announcements: asked for %d times and told %d times, want at most %d", listed, heard, most)
		}
	})
}

// deaf opens a connection, sends a request and reads only the header of the response.
func (s *site) deaf(head, body string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := fmt.Fprintf(conn, "%s\r\nHost: localhost:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		head, s.http.Listener.Addr().(*net.TCPAddr).Port, token, len(body), body); err != nil {
		s.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%v %v", response, err)
	}
}

// TestDeafSubscriber: D009, E010, F022. A client that does not read its subscription does not block
// the upstream for others.
func TestDeafSubscriber(t *testing.T) {
	soak.Bulk(t)
	t.Parallel()
	s := start(t, changing(t))
	c := s.connect(legs()[2], "")
	s.deaf("POST /mcp HTTP/1.1\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nAccept: text/event-stream",
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{`+c.meta("")+`"notifications":{"resourceSubscriptions":["a:1"]}}}`)
	for range 2 { // more than the buffers of a connection hold
		c.must("lie", loud(30, "notifications/resources/updated", `"uri":"a:1"`))
	}
	c.must("safe", `{}`)
}

// TestDeafOlderClient: the same for a client of revision 2024-11-05, which does not read the
// answers to its own calls either.
func TestDeafOlderClient(t *testing.T) {
	soak.Bulk(t)
	t.Parallel()
	s := start(t, changing(t))
	c := s.connect(legs()[1], "")
	conn, where := s.olderConn()
	const calls = 3 // answers larger than the buffers of a connection
	for i := range calls {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"safe","arguments":{"a":"%s"}}}`, i, strings.Repeat("x", 3<<20))
		if status, _, _ := s.fetch(plain{method: "POST", path: where, body: body, header: http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}}); status != http.StatusAccepted {
			t.Fatal(status)
		}
	}
	s.eventually("all of them are answered", func() bool { return len(s.records.outcomes()) == calls })
	c.must("safe", `{}`)
	_ = conn.Close()
	c.must("safe", `{}`)
}

// olderConn opens a stream of revision 2024-11-05 and reads its first event.
func (s *site) olderConn() (conn net.Conn, where string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	_, _ = fmt.Fprintf(conn, "GET /sse HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", conn.RemoteAddr(), token)
	r := bufio.NewReaderSize(conn, 16)
	for where == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		_, where, _ = strings.Cut(strings.TrimSpace(line), "data: ")
	}
	return conn, where
}
