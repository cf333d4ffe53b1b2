package pipeline_test

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
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// askingBack is a method of 2025-11-25 that sends progress, asks its client, and returns the
// answer.
func askingBack(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
	c.Progress(1, 2)
	answer, err := c.Ask(ctx, "elicitation/create", proxytest.AsksName)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"messages":[],"heard":` + string(answer) + `}`), nil
}

// TestAskedBeforeListed: if the server of a prompt must be found first, the server's messages are
// forwarded while the client waits, and not only after the answer.
func TestAskedBeforeListed(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.BlockingPolicy(t, "prompt:up.secret"), Server: testserver.Options{
			Revisions: testserver.Legacy, Capabilities: proxytest.AllCapabilities,
			Methods: map[string]testserver.Method{"prompts/list": proxytest.ConstantMethod(`{"prompts":[{"name":"open"}]}`), "prompts/get": askingBack},
		}})
		c := s.Connect(l, proxytest.CanAll)
		id := c.Ask("prompts/get", `"name":"open","x":{"progressToken":1}`)
		q := c.AwaitRequest("elicitation/create")
		c.Respond(q.ID, proxytest.NameGiven)
		if r := c.Reply(id); proxytest.Member(r.Result, "heard", "result") != proxytest.NameGiven {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestDrivenTaskIsTold: a server's messages during a call come before its answer, even if it runs
// the call as a task that is over before it is polled.
func TestDrivenTaskIsTold(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		u, records := proxytest.ChildUpstream(t, "--era modern --insist --poll 1")
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{u} }})
		c := s.Connect(l, "")
		s.Eventually("it is heard", func() bool { return len(proxytest.OfKind(records(), testserver.Subscribed, "")) > 0 })
		id := c.CallWith("progress", `{"n":3}`, `"progressToken":7`, "")
		if r := c.Reply(id); r.Text() != "done" {
			t.Errorf("%s", r.Raw)
		}
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "notifications/progress" }); n != 3 {
			t.Errorf("told of %d of 3 steps before the answer: %s", n, c.Mail)
		}
	})
}

// TestPromptIsTakenBack: a client is told when its prompt has become unnecessary, in whatever state
// the call is by then.
func TestPromptIsTakenBack(t *testing.T) {
	for name, end := range map[string]func(*proxytest.Site, proxytest.Question){
		"answered elsewhere": func(s *proxytest.Site, _ proxytest.Question) {
			if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, false, "ada", ""); err != nil {
				s.T.Fatal(err)
			}
		},
		"cancelled": func(_ *proxytest.Site, q proxytest.Question) { q.Client.Cancel(q.Call) },
		"parked, and answered elsewhere": func(s *proxytest.Site, q proxytest.Question) {
			if r := q.Client.Reply(q.Call); r.Decision("decision") != "ask" {
				s.T.Fatalf("%s", r.Raw)
			}
			if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
				s.T.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			parked := strings.HasPrefix(name, "parked")
			proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
				s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
					o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: proxytest.Patience}
					if parked {
						o.Approval.Hold = time.Millisecond
					}
				}})
				c := s.Connect(l, proxytest.CanElicit)
				if parked { // the stream of its call has ended
					c.ListenToPushes()
				}
				q := c.Asks("deploy", `{}`)
				end(s, q)
				m := c.Await("a cancellation", func(m proxytest.Message) bool { return m.Method == "notifications/cancelled" })
				if proxytest.Member(m.Params, "requestId") != q.Elicit {
					t.Errorf("%s", m.Raw)
				}
			})
		})
	}
}

// TestEndWhileTaking: the end of a stdio connection does not race with a message that is being
// handled.
func TestEndWhileTaking(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	for range 300 {
		in, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- s.Proxy.ServeStdio(ctx, in, io.Discard) }()
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
	t.Parallel()
	s := proxytest.Start(t, proxytest.Setup{})
	unread, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	defer out.Close()
	in, requests := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.Proxy.ServeStdio(ctx, in, out) }()
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
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		for range 200 {
			c.Send([]byte(`{"jsonrpc":"2.0","id":"again","method":"tools/list"}`), nil)
			if r := c.Reply(`"again"`); r.Result == nil {
				t.Fatalf("%s", r.Raw)
			}
		}
	})
}

// TestNewsBeforeTheEnd: notifications queued for a subscription at shutdown are sent before it
// ends, even to a slow client.
func TestNewsBeforeTheEnd(t *testing.T) {
	for range 10 {
		quiet := testserver.Options{Revisions: testserver.Modern, Capabilities: `{"tools":{}}`} // it is listed once
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Server: quiet, Change: func(o *proxy.Options) {
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
		go func() { served <- s.Proxy.ServeStdio(context.WithoutCancel(t.Context()), in, out) }()
		c := &proxytest.Client{Leg: proxytest.Legs()[3], Site: s, Version: "2026-07-28", Capabilities: "{}"}
		listen, _ := c.Fill(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"toolsListChanged":true}}}` + "\n")
		if _, err := inWriter.Write(listen); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(outReader)
		lines.Scan() // the acknowledgement
		s.SwitchNet("block-danger", false)
		s.SwitchNet("block-danger", true)
		s.Proxy.Drain()
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
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		first := make(chan struct{}, 1)
		first <- struct{}{}
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{
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
		a, b := s.Connect(l, ""), s.Connect(proxytest.Legs()[1], "")
		given := a.Ask("resources/subscribe", `"uri":"a:1"`)
		s.AwaitExecuted("resources/subscribe", 1)
		if r := b.Request("resources/subscribe", `"uri":"a:1"`); string(r.Result) != `{}` {
			t.Errorf("%s", r.Raw)
		}
		a.Cancel(given)
		s.AwaitExecuted("resources/subscribe", 2)
	})
}

// TestAskedBehindAFlood: unread notifications do not keep a server's request from a client.
func TestAskedBehindAFlood(t *testing.T) {
	soak.Bulk(t)
	told := make(chan struct{})
	s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{
		"prompts/list": func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			for range 600 {
				c.Log("info", strings.Repeat("x", 64<<10))
			}
			close(told)
			return askingBack(ctx, c)
		},
	}}})
	c := s.Connect(proxytest.Legs()[1], proxytest.CanAll)
	list, _ := c.Fill(`{"jsonrpc":"2.0","id":%ID%,"method":"prompts/list"}`)
	ctx, cancel := context.WithTimeout(t.Context(), proxytest.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Site.HTTP.URL+"/mcp", bytes.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	c.SetHeaders(r)
	response, err := c.HTTP.Do(r)
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
		if m := proxytest.ParseMessage(data, 0); m.Method == "elicitation/create" {
			asked = true
			c.Respond(m.ID, proxytest.NameGiven)
		}
	}
	if !asked {
		t.Error("the question was lost")
	}
}
