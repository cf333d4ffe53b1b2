package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// askingBack is a method of 2025-11-25 that sends progress, asks its client, and returns the
// answer.
func askingBack(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
	c.Progress(1, 2)
	answer, err := c.Ask(ctx, "elicitation/create", asksName)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"messages":[],"heard":` + string(answer) + `}`), nil
}

// TestAskedBeforeListed: if the server of a prompt must be found first, the server's messages are
// forwarded while the client waits, and not only after the answer.
func TestAskedBeforeListed(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: blocking(t, "prompt:up.secret"), server: testserver.Options{
			Eras: testserver.Legacy, Capabilities: whole,
			Methods: map[string]testserver.Method{"prompts/list": says(`{"prompts":[{"name":"open"}]}`), "prompts/get": askingBack},
		}})
		c := s.connect(l, canAll)
		id := c.ask("prompts/get", `"name":"open","x":{"progressToken":1}`)
		q := c.questioned("elicitation/create")
		c.respond(q.id, nameGiven)
		if r := c.reply(id); at(r.result, "heard", "result") != nameGiven {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestDrivenTaskIsTold: a server's messages during a call come before its answer, even if it runs
// the call as a task that is over before it is polled.
func TestDrivenTaskIsTold(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		u, records := child(t, "--era modern --insist --poll 1")
		s := start(t, setup{change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{u} }})
		c := s.connect(l, "")
		s.eventually("it is heard", func() bool { return len(ofKind(records(), testserver.Subscribed, "")) > 0 })
		id := c.callWith("progress", `{"n":3}`, `"progressToken":7`, "")
		if r := c.reply(id); r.text() != "done" {
			t.Errorf("%s", r.raw)
		}
		if n := c.mail.count(func(m message) bool { return m.method == "notifications/progress" }); n != 3 {
			t.Errorf("told of %d of 3 steps before the answer: %s", n, c.mail)
		}
	})
}

// TestPromptIsTakenBack: a client whose prompt is no longer needed is told so, in whatever state
// the call is by then.
func TestPromptIsTakenBack(t *testing.T) {
	for name, end := range map[string]func(*site, question){
		"answered elsewhere": func(s *site, _ question) {
			if err := s.proxy.Resolve(s.pending(1)[0].ID, false, "ada", ""); err != nil {
				s.t.Fatal(err)
			}
		},
		"cancelled": func(_ *site, q question) { q.c.cancel(q.call) },
		"parked, and answered elsewhere": func(s *site, q question) {
			if r := q.c.reply(q.call); r.decision("decision") != "ask" {
				s.t.Fatalf("%s", r.raw)
			}
			if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			parked := strings.HasPrefix(name, "parked")
			legacyLegs(t, func(t *testing.T, l leg) {
				s := start(t, setup{change: func(o *proxy.Options) {
					o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: patience}
					if parked {
						o.Approval.Hold = time.Millisecond
					}
				}})
				c := s.connect(l, canElicit)
				if parked { // the stream of its call has ended
					c.listenToPushes()
				}
				q := c.asks("deploy", `{}`)
				end(s, q)
				m := c.await("a cancellation", func(m message) bool { return m.method == "notifications/cancelled" })
				if at(m.params, "requestId") != q.elicit {
					t.Errorf("%s", m.raw)
				}
			})
		})
	}
}

// TestEndWhileTaking: the end of a stdio connection does not race with a message that is being
// handled.
func TestEndWhileTaking(t *testing.T) {
	s := start(t, setup{})
	for range 300 {
		in, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- s.proxy.ServeStdio(ctx, in, io.Discard) }()
		write := func() { _, _ = io.WriteString(out, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`+"\n") }
		write()
		go write()
		cancel()
		<-served
		_ = in.Close()
	}
}

// TestEndUnread: a client that does not read its answers does not block the shutdown.
func TestEndUnread(t *testing.T) {
	s := start(t, setup{})
	unread, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	defer out.Close()
	in, requests := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.proxy.ServeStdio(ctx, in, out) }()
	id := strings.Repeat("x", 1000)
	for i := range 200 { // more than a pipe holds
		_, _ = fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":"%s%d","method":"ping"}`+"\n", id, i)
	}
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = in.Close()
}

// TestSameIDAgain: a client that has read the answer to a request can use its id again.
func TestSameIDAgain(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		for range 200 {
			c.send([]byte(`{"jsonrpc":"2.0","id":"again","method":"tools/list"}`), nil)
			if r := c.reply(`"again"`); r.result == nil {
				t.Fatalf("%s", r.raw)
			}
		}
	})
}

// TestNewsBeforeTheEnd: notifications queued for a subscription at shutdown are sent before it
// ends, even to a slow client.
func TestNewsBeforeTheEnd(t *testing.T) {
	for range 10 {
		quiet := testserver.Options{Eras: testserver.Modern, Capabilities: `{"tools":{}}`} // it is listed once
		s := start(t, setup{rules: "block danger\n", server: quiet, change: func(o *proxy.Options) {
			o.Advertise = "possible"
			o.Impossible = func(_ []gate.Call, active []string) []string {
				if active == nil || len(active) > 0 {
					return []string{"danger"}
				}
				return nil
			}
		}})
		in, inWriter := io.Pipe()
		outReader, out := io.Pipe()
		served := make(chan error)
		go func() { served <- s.proxy.ServeStdio(context.WithoutCancel(t.Context()), in, out) }()
		c := &client{leg: legs()[3], site: s, version: "2026-07-28", capabilities: "{}"}
		listen, _ := c.fill(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"toolsListChanged":true}}}` + "\n")
		if _, err := inWriter.Write(listen); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(outReader)
		lines.Scan() // the acknowledgement
		s.switchNet("block-danger", false)
		s.switchNet("block-danger", true)
		s.proxy.Drain()
		news := 0
		for lines.Scan() && !strings.Contains(lines.Text(), `"complete"`) {
			news++
		}
		if news < 2 {
			t.Errorf("told of %d of 2 changes", news)
		}
		_ = inWriter.Close()
		<-served
	}
}

// TestWatchedMeanwhile: a client that began to watch a resource while another client subscribed
// gets its changes, although the other one has given up.
func TestWatchedMeanwhile(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		first := make(chan struct{}, 1)
		first <- struct{}{}
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Capabilities: whole, Methods: map[string]testserver.Method{
			"resources/subscribe": func(ctx context.Context, _ *testserver.Call) (json.RawMessage, error) {
				select {
				case <-first:
					<-ctx.Done()
					return nil, ctx.Err()
				default:
					return json.RawMessage(`{}`), nil
				}
			},
		}}})
		a, b := s.connect(l, ""), s.connect(legs()[1], "")
		given := a.ask("resources/subscribe", `"uri":"a:1"`)
		s.awaitExecuted("resources/subscribe", 1)
		if r := b.request("resources/subscribe", `"uri":"a:1"`); string(r.result) != `{}` {
			t.Errorf("%s", r.raw)
		}
		a.cancel(given)
		s.awaitExecuted("resources/subscribe", 2)
	})
}

// TestAskedBehindAFlood: unread notifications do not keep a server's request from a client.
func TestAskedBehindAFlood(t *testing.T) {
	soak.Bulk(t)
	told := make(chan struct{})
	s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Capabilities: whole, Methods: map[string]testserver.Method{
		"prompts/list": func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			for range 600 {
				c.Log("info", strings.Repeat("x", 64<<10))
			}
			close(told)
			return askingBack(ctx, c)
		},
	}}})
	c := s.connect(legs()[1], canAll)
	list, _ := c.fill(`{"jsonrpc":"2.0","id":%ID%,"method":"prompts/list"}`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.site.http.URL+"/mcp", bytes.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	c.setHeaders(r)
	response, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	<-told // none of it was read
	asked := false
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		data, _ := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		if m := parseMessage(data, 0); m.method == "elicitation/create" {
			asked = true
			c.respond(m.id, nameGiven)
		}
	}
	if !asked {
		t.Error("the question was lost")
	}
}
