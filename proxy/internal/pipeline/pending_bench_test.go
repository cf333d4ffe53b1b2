package pipeline_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// nowhere is a recorder that keeps nothing.
type nowhere struct{}

func (nowhere) Append([]byte) error { return nil }

// A pendingBench is a proxy with clients whose calls wait for a person. Over HTTP the clients are
// bare connections, so that they contribute next to nothing to the measured memory.
type pendingBench struct {
	*testing.B
	proxy *proxy.Proxy
	http  *httptest.Server
	now   *proxytest.Clock
	args  string // params of each call; %d is its number
	conns []net.Conn

	clients []io.WriteCloser // over stdio
	served  sync.WaitGroup

	calls int
	close func()
}

const (
	benchPrincipals = 10
	benchCalls      = 1000
	benchStdio      = 400
)

func newPendingBench(b *testing.B, hold time.Duration) *pendingBench {
	b.Helper()
	p := &pendingBench{B: b, now: proxytest.NewClock(), args: `{"n":%d,"a":"` + strings.Repeat("x", 1<<10) + `"}`}
	up := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack()}))
	var err error
	p.proxy, err = proxy.New(proxy.Options{
		Policy: proxytest.PolicyOf(b, ""), Recorder: nowhere{}, Upstreams: []proxy.Upstream{{Name: "up", URL: up.URL + "/mcp"}}, Startup: proxytest.Patience,
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
		for _, c := range p.clients {
			_ = c.Close()
		}
		p.served.Wait()
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

// request returns a message as an HTTP request.
func (p *pendingBench) request(l proxytest.Leg, principal int, session, body string) []byte {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	c := &proxytest.Client{Leg: l, Session: session, Version: "2025-11-25", Bearer: fmt.Sprint("token of ", principal)}
	if l.Modern {
		c.Version = "2026-07-28"
	}
	c.SetHeaders(r)
	c.StandardHeaders(r, []byte(body))
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		p.Fatal(err)
	}
	return raw.Bytes()
}

// send sends a message on a connection of its own, which stays open.
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

// call returns a call of a tool by a principal.
func (p *pendingBench) call(l proxytest.Leg, principal int, session, tool, args string) []byte {
	p.calls++
	c := &proxytest.Client{Site: &proxytest.Site{ClientName: "bench"}, Leg: l, Version: "2026-07-28", Capabilities: "{}"}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":%q,"arguments":%s}}`, p.calls, c.Meta(""), tool, args)
	return p.request(l, principal, session, body)
}

// fill makes different calls wait, a hundred per session, and returns their number when all can be
// answered: a thousand from ten principals, or over stdio the maximum for its one principal.
func (p *pendingBench) fill(l proxytest.Leg, held bool) int {
	p.Helper()
	if !l.HTTP {
		return p.fillStdio()
	}
	for principal := range benchPrincipals {
		session := ""
		if !l.Modern {
			conn := p.send(p.request(l, principal, "", proxytest.InitializeRequest))
			session, _ = p.answered(conn)
			_ = conn.Close()
		}
		for n := range benchCalls / benchPrincipals {
			if n%50 == 0 {
				p.await(principal*benchCalls/benchPrincipals + n)
				p.now.Move(time.Minute) // the rate of questions is limited
			}
			conn := p.send(p.call(l, principal, session, "deploy", fmt.Sprintf(p.args, n)))
			if !held {
				p.answered(conn)
				_ = conn.Close()
			}
		}
	}
	p.await(benchCalls)
	return benchCalls
}

// connectStdio connects the clients over stdio, with buffers separate from those of calls.
func (p *pendingBench) connectStdio() {
	for range benchStdio / 100 {
		in, client := io.Pipe()
		p.clients = append(p.clients, client)
		answers, out := io.Pipe()
		p.served.Go(func() {
			_ = p.proxy.ServeStdio(context.Background(), in, out)
			_ = out.Close()
		})
		_, _ = io.WriteString(client, proxytest.InitializeRequest+"\n")
		r := bufio.NewReader(answers)
		if _, err := r.ReadString('\n'); err != nil {
			p.Fatal(err)
		}
		p.served.Go(func() { _, _ = io.Copy(io.Discard, answers) })
	}
}

// fillStdio makes calls wait over stdio.
func (p *pendingBench) fillStdio() int {
	for i, client := range p.clients {
		for n := range 100 {
			if n%50 == 0 {
				p.await(i*100 + n)
				p.now.Move(time.Minute)
			}
			_, _ = fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"deploy","arguments":`+p.args+`}}`+"\n", n+100, n)
		}
	}
	p.await(benchStdio)
	return benchStdio
}

// await waits until that many approvals are pending.
func (p *pendingBench) await(n int) {
	for {
		changed := p.proxy.ApprovalsChanged()
		if p.proxy.Status().Waiting == n {
			return
		}
		<-changed
	}
}

// A usage is the memory in use.
type usage struct{ heap, stack, goroutines int }

// inUse returns the memory in use now. Unneeded stacks are released first, which takes a few
// collections, because each halves them.
func inUse() usage {
	var m runtime.MemStats
	for range 4 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return usage{int(m.HeapAlloc), int(m.StackInuse), runtime.NumGoroutine()}
}

// since returns the growth per item for n items.
func (u usage) since(before usage, n int) usage {
	return usage{(u.heap - before.heap) / n, (u.stack - before.stack) / n, (u.goroutines - before.goroutines + n/2) / n}
}

// BenchmarkPending reports how many bytes each of many pending approvals takes, besides the shown
// call: for parked calls, and for held calls, each on a connection of its own over HTTP. For held
// calls it also reports the growth beyond the memory of a waiting net/http handler: "idle" for one
// that does nothing else, "read" for one that has parsed the message, which has grown the stack of
// the connection.
func BenchmarkPending(b *testing.B) {
	idle := func([]byte) {}
	read := func(body []byte) { _ = json.Unmarshal(body, &map[string]any{}) }
	for _, c := range []struct {
		name string
		leg  proxytest.Leg
		hold time.Duration
	}{
		{"parked", proxytest.Legs()[1], proxytest.ParkAtOnce},
		{"held/stdio", proxytest.Legs()[0], 12 * time.Hour}, {"held/http", proxytest.Legs()[1], 12 * time.Hour}, {"held/http-modern", proxytest.Legs()[2], 12 * time.Hour},
	} {
		b.Run(c.name, func(b *testing.B) {
			var each, alone, reading usage
			var shown int
			for b.Loop() {
				p := newPendingBench(b, c.hold)
				if !c.leg.HTTP {
					p.connectStdio()
				}
				before := inUse()
				n := p.fill(c.leg, c.hold != proxytest.ParkAtOnce)
				each = inUse().since(before, n)
				shown = p.proxy.Approvals()[0].Size
				if c.leg.HTTP && c.hold != proxytest.ParkAtOnce {
					alone, reading = p.connections(idle), p.connections(read)
				}
				p.close()
			}
			b.ReportMetric(float64(each.heap-shown), "heap-B/approval")
			b.ReportMetric(float64(each.stack), "stack-B/approval")
			b.ReportMetric(float64(each.goroutines), "goroutines/approval")
			if alone.heap > 0 {
				all := each.heap + each.stack - shown
				b.ReportMetric(float64(all-alone.heap-alone.stack), "B-beside-idle/approval")
				b.ReportMetric(float64(all-reading.heap-reading.stack), "B-beside-read/approval")
			}
		})
	}
}

// connections returns the memory per request at a server that reads the body and then waits.
func (p *pendingBench) connections(do func(body []byte)) usage {
	arrived, end := make(chan struct{}), make(chan struct{})
	waits := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		readAll(r, do)
		arrived <- struct{}{}
		<-end
	}))
	proxied := p.http
	p.http = waits
	defer func() { p.http = proxied }()
	before := inUse()
	for n := range benchCalls {
		p.send(p.call(proxytest.Legs()[2], 0, "", "deploy", fmt.Sprintf(p.args, n)))
		<-arrived
	}
	each := inUse().since(before, benchCalls)
	close(end)
	waits.Close()
	return each
}

func readAll(r *http.Request, do func(body []byte)) {
	body, _ := io.ReadAll(r.Body) // it is complete
	do(body)
}

// BenchmarkBesidePending reports the median duration of another call with no approval pending and
// with a thousand, and their ratio. In each round the same connection to a new proxy calls first
// without and then with them, so that both see the same machine.
func BenchmarkBesidePending(b *testing.B) {
	for _, c := range []struct {
		name string
		hold time.Duration
	}{{"parked", proxytest.ParkAtOnce}, {"held", 12 * time.Hour}} {
		b.Run(c.name, func(b *testing.B) {
			var without, with []time.Duration
			for b.Loop() {
				p := newPendingBench(b, c.hold)
				call := p.caller()
				call(benchCalls) // until everything is warmed up
				without = append(without, call(benchCalls)...)
				p.fill(proxytest.Legs()[1], c.hold != proxytest.ParkAtOnce)
				with = append(with, call(benchCalls)...)
				p.close()
			}
			b.ReportMetric(float64(median(without)), "ns-without/call")
			b.ReportMetric(float64(median(with)), "ns-with/call")
			b.ReportMetric(float64(median(with))/float64(median(without)), "ratio")
		})
	}
}

// caller returns a function that makes n calls without approval on one connection, and returns
// their durations.
func (p *pendingBench) caller() func(n int) []time.Duration {
	raw := p.call(proxytest.Legs()[2], 0, "", "safe", "{}")
	conn, err := net.Dial("tcp", p.http.Listener.Addr().String())
	if err != nil {
		p.Fatal(err)
	}
	p.conns = append(p.conns, conn)
	r := bufio.NewReader(conn)
	return func(n int) (took []time.Duration) {
		for range n {
			began := time.Now()
			if _, err := conn.Write(raw); err != nil {
				p.Fatal(err)
			}
			response, err := http.ReadResponse(r, nil)
			if err != nil {
				p.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
				p.Fatal(response.Status, err)
			}
			took = append(took, time.Since(began))
		}
		return took
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
