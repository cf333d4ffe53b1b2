package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// nowhere is a recorder that keeps nothing.
type nowhere struct{}

func (nowhere) Append([]byte) error { return nil }

// A pendingBench is a proxy with clients whose calls wait for a person. Over HTTP the clients
// are bare connections, so that next to nothing of what is measured is theirs.
type pendingBench struct {
	*testing.B
	proxy *proxy.Proxy
	http  *httptest.Server
	now   *clock
	args  string // of each call; %d is its number
	conns []net.Conn
	calls int
	close func()
}

const (
	benchPrincipals = 10
	benchCalls      = 1000
)

func newPendingBench(b *testing.B, hold time.Duration) *pendingBench {
	b.Helper()
	p := &pendingBench{B: b, now: &clock{now: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}, args: `{"n":%d,"a":"` + strings.Repeat("x", 1<<10) + `"}`}
	up := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack()}))
	var err error
	p.proxy, err = proxy.New(proxy.Options{
		Policy: policyOf(b, ""), Recorder: nowhere{}, Upstreams: []proxy.Upstream{{Name: "up", URL: up.URL + "/mcp"}}, Startup: patience,
		Approval: proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: hold, Expire: 24 * time.Hour}, Now: p.now.Now,
	})
	if err != nil {
		b.Fatal(err)
	}
	tokens := map[string]string{}
	for i := range benchPrincipals {
		tokens[fmt.Sprint(i)] = fmt.Sprint("token of ", i)
	}
	p.http = httptest.NewUnstartedServer(nil)
	if p.http.Config.Handler, err = p.proxy.Handler(proxy.Access{Addr: p.http.Listener.Addr().String(), Tokens: tokens}); err != nil {
		b.Fatal(err)
	}
	p.http.Start()
	p.proxy.Start()
	p.proxy.AwaitTools(b.Context())
	p.close = func() {
		for _, c := range p.conns {
			_ = c.Close()
		}
		if err := p.proxy.Close(); err != nil {
			b.Error(err)
		}
		p.http.CloseClientConnections()
		p.http.Close()
		up.CloseClientConnections()
		up.Close()
	}
	return p
}

// request is a message as it goes over HTTP.
func (p *pendingBench) request(l leg, principal int, session, body string) []byte {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	c := &client{leg: l, session: session, version: "2025-11-25", bearer: fmt.Sprint("token of ", principal)}
	if l.modern {
		c.version = "2026-07-28"
	}
	c.setHeaders(r)
	c.standardHeaders(r, []byte(body))
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		p.Fatal(err)
	}
	return raw.Bytes()
}

// send sends a message on a connection of its own, which stays.
func (p *pendingBench) send(raw []byte) net.Conn {
	conn, err := net.Dial("tcp", p.http.Listener.Addr().String())
	if err != nil {
		p.Fatal(err)
	}
	p.conns = append(p.conns, conn)
	if _, err := conn.Write(raw); err != nil {
		p.Fatal(err)
	}
	return conn
}

// answered reads a response, and returns its session.
func (p *pendingBench) answered(conn net.Conn) (session, body string) {
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		p.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		p.Fatal(r.Status, err)
	}
	return r.Header.Get("Mcp-Session-Id"), string(text)
}

// call is a call of a tool by a principal.
func (p *pendingBench) call(l leg, principal int, session, tool, args string) []byte {
	p.calls++
	c := &client{site: &site{clientName: "bench"}, leg: l, version: "2026-07-28", capabilities: "{}"}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":%q,"arguments":%s}}`, p.calls, c.meta(""), tool, args)
	return p.request(l, principal, session, body)
}

// fill has a thousand different calls wait, a hundred of each principal, and returns when
// people could answer all of them.
func (p *pendingBench) fill(l leg, held bool) {
	p.Helper()
	for principal := range benchPrincipals {
		session := ""
		if !l.modern {
			conn := p.send(p.request(l, principal, "", opening))
			session, _ = p.answered(conn)
		}
		for n := range benchCalls / benchPrincipals {
			if n%50 == 0 {
				p.await(principal*benchCalls/benchPrincipals + n)
				p.now.move(time.Minute) // people may be asked only so often
			}
			conn := p.send(p.call(l, principal, session, "deploy", fmt.Sprintf(p.args, n)))
			if !held {
				p.answered(conn)
				_ = conn.Close()
			}
		}
	}
	p.await(benchCalls)
}

// await waits until so many approvals wait.
func (p *pendingBench) await(n int) {
	for {
		changed := p.proxy.ApprovalsChanged()
		if p.proxy.Status().Waiting == n {
			return
		}
		<-changed
	}
}

// inUse is what is kept in memory: what is allocated, and the stacks.
func inUse() int {
	n := int(heap())
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return n + int(m.StackInuse)
}

// BenchmarkPending reports how many bytes each of a thousand approvals takes, beside what is
// shown of it: of calls that were told to come back, and of calls that are held, each on a
// connection of its own. What net/http takes for such a connection is under "connection".
func BenchmarkPending(b *testing.B) {
	for _, c := range []struct {
		name string
		leg  leg
		held bool
	}{{"parked", legs()[1], false}, {"held/http", legs()[1], true}, {"held/http-modern", legs()[2], true}} {
		b.Run(c.name, func(b *testing.B) {
			var bytes, goroutines, shown int
			for b.Loop() {
				hold := atOnce
				if c.held {
					hold = 12 * time.Hour
				}
				p := newPendingBench(b, hold)
				before, running := inUse(), runtime.NumGoroutine()
				p.fill(c.leg, c.held)
				bytes, goroutines = inUse()-before, runtime.NumGoroutine()-running
				shown = p.proxy.Approvals()[0].Size
				p.close()
			}
			b.ReportMetric(float64(bytes)/benchCalls-float64(shown), "B/approval")
			b.ReportMetric(float64(goroutines)/benchCalls, "goroutines/approval")
		})
	}
	b.Run("connection", func(b *testing.B) { benchmarkConnection(b) })
}

// benchmarkConnection reports what the same requests take at a server that does nothing but
// wait.
func benchmarkConnection(b *testing.B) {
	var bytes int
	for b.Loop() {
		p := newPendingBench(b, atOnce)
		arrived, end := make(chan struct{}), make(chan struct{})
		waits := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			arrived <- struct{}{}
			<-end
		}))
		proxied := p.http
		p.http = waits
		before := inUse()
		for n := range benchCalls {
			p.send(p.call(legs()[2], 0, "", "deploy", fmt.Sprintf(p.args, n)))
			<-arrived
		}
		bytes = inUse() - before
		close(end)
		waits.Close()
		p.http = proxied
		p.close()
	}
	b.ReportMetric(float64(bytes)/benchCalls, "B/connection")
}

// BenchmarkBesidePending measures another call with no approval pending, and with a thousand,
// whose calls are held.
func BenchmarkBesidePending(b *testing.B) {
	for _, pending := range []int{0, benchCalls} {
		b.Run(fmt.Sprint(pending), func(b *testing.B) {
			p := newPendingBench(b, 12*time.Hour)
			defer p.close()
			if pending > 0 {
				p.fill(legs()[1], true)
			}
			raw := p.call(legs()[2], 0, "", "safe", "{}")
			conn := p.send(raw)
			r := bufio.NewReader(conn)
			read := func() {
				response, err := http.ReadResponse(r, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
					b.Fatal(response.Status, err)
				}
			}
			read()
			for b.Loop() {
				if _, err := conn.Write(raw); err != nil {
					b.Fatal(err)
				}
				read()
			}
		})
	}
}
