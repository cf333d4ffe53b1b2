package pipeline_test

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// longToDecide is a net that blocks decisions about calls of read until goOn is closed.
type longToDecide struct {
	inside, most, decided atomic.Int64
	entered, goOn         chan struct{}
}

func newLongToDecide() *longToDecide {
	return &longToDecide{entered: make(chan struct{}, 100), goOn: make(chan struct{})}
}

func (n *longToDecide) start(t *testing.T) *proxytest.Site {
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t, gate.Net{Name: "long", Mapper: func(c gate.Call) []gate.Name {
		if c.Tool == "read" {
			n.decided.Add(1)
			n.most.Store(max(n.most.Load(), n.inside.Add(1)))
			n.entered <- struct{}{}
			<-n.goOn
			n.inside.Add(-1)
		}
		return nil
	}})})
	s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	return s
}

// TestTurnsOlder: the same over HTTP+SSE, whatever the arguments contain.
func TestTurnsOlder(t *testing.T) {
	each := max(1, runtime.GOMAXPROCS(0)/2)
	n := newLongToDecide()
	s := n.start(t)
	var work sync.WaitGroup
	for range each + 2 {
		c := s.ConnectOlder("token of ann")
		c.Ask(proxytest.InitializeRequest)
		call := strings.Replace(proxytest.PushRequest, `"push"`, `"read","arguments":{"a":"initialize"}`, 1)
		work.Go(func() { c.Ask(call) })
	}
	for range each {
		<-n.entered
	}
	bob := s.ConnectOlder("token of bob")
	bob.Ask(proxytest.InitializeRequest)
	for range 5 {
		if r := bob.Ask(strings.Replace(proxytest.PushRequest, "push", "safe", 1)); r.IsError() {
			t.Errorf("%s", r.Raw)
		}
	}
	close(n.goOn)
	work.Wait()
	if n.most.Load() != int64(each) || n.decided.Load() != int64(each+2) {
		t.Errorf("%d of %d calls at the same time, want %d", n.most.Load(), n.decided.Load(), each)
	}
}

// TestSlowDecisionsLeaveProcessor: calls of one principal that take long to decide leave a
// processor to others, and a client that disconnects meanwhile keeps no turn.
func TestSlowDecisionsLeaveProcessor(t *testing.T) {
	each := max(1, runtime.GOMAXPROCS(0)/2)
	for _, l := range proxytest.Legs() {
		if !l.HTTP {
			continue // there is one principal
		}
		n := newLongToDecide()
		s := n.start(t)
		session := map[string]string{}
		if !l.Modern {
			session["ann"], session["bob"] = s.OpenSession("token of ann"), s.OpenSession("token of bob")
		}
		var work sync.WaitGroup
		for i := range each + 3 {
			work.Go(func() {
				if r := s.CallAs(l, "token of ann", session["ann"], string(rune('1'+i)), "read"); r.IsError() || r.Status != http.StatusOK {
					t.Errorf("%s", r.Raw)
				}
			})
		}
		for range each {
			<-n.entered
		}
		ctx, gone := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.HTTP.URL+"/mcp", strings.NewReader(s.ModernCall().Body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = s.ModernCallAs("token of ann").Header
		work.Go(func() {
			if response, err := http.DefaultClient.Do(r); err == nil { // it disconnected too late
				_ = response.Body.Close()
			}
		})
		for range 5 {
			if r := s.CallAs(l, "token of bob", session["bob"], "1", "safe"); r.IsError() || r.Status != http.StatusOK {
				t.Errorf("%s", r.Raw)
			}
		}
		gone()
		close(n.goOn)
		work.Wait()
		if n.most.Load() != int64(each) || n.decided.Load() < int64(each+3) {
			t.Errorf("%d of %d calls at the same time, want %d", n.most.Load(), n.decided.Load(), each)
		}
	}
}

// TestTurnsOfRounds: a call that continues with another round is decided already: it takes no turn
// from others while its upstream is busy.
func TestTurnsOfRounds(t *testing.T) {
	inner, busy, goOn := proxytest.RoundsTool(), make(chan struct{}, 100), make(chan struct{})
	first := inner.Run
	inner.Run = func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
		if len(c.Params["requestState"]) > 0 {
			busy <- struct{}{}
			<-goOn
		}
		return first(ctx, c)
	}
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Server: testserver.Options{Revisions: testserver.Modern, Tools: append(testserver.Attack(), inner)}})
	s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	c := &proxytest.Client{Site: s, Leg: proxytest.Legs()[2], Version: "2026-07-28", Capabilities: proxytest.CanAll}
	call := func(more string) proxytest.Message {
		p := s.ModernCallAs("token of ann")
		p.Header.Set("Mcp-Name", "curious")
		p.Body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + c.Meta("") + `"name":"curious"` + more + `}}`
		status, _, body := s.Fetch(p)
		return proxytest.ParseMessage([]byte(body), status)
	}
	var work sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		state := proxytest.Member(call("").Result, "requestState")
		work.Go(func() {
			if r := call(`,"inputResponses":{"who":` + proxytest.NameGiven + `},"requestState":` + state); proxytest.Member(r.Result, "heard") != proxytest.NameGiven {
				t.Errorf("%s", r.Raw)
			}
		})
		<-busy
	}
	if r := s.CallAs(proxytest.Legs()[2], "token of ann", "", "2", "safe"); r.IsError() || r.Status != http.StatusOK {
		t.Errorf("%s", r.Raw)
	}
	close(goOn)
	work.Wait()
}
