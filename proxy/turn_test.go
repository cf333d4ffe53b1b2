package proxy_test

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

func (n *longToDecide) start(t *testing.T) *site {
	s := start(t, setup{policy: netPolicy(t, gate.Net{Name: "long", Mapper: func(c gate.Call) []gate.Name {
		if c.Tool == "read" {
			n.decided.Add(1)
			n.most.Store(max(n.most.Load(), n.inside.Add(1)))
			n.entered <- struct{}{}
			<-n.goOn
			n.inside.Add(-1)
		}
		return nil
	}})})
	s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	return s
}

// TestTurnsOlder: the same over HTTP+SSE, whatever the arguments contain.
func TestTurnsOlder(t *testing.T) {
	each := max(1, runtime.GOMAXPROCS(0)/2)
	n := newLongToDecide()
	s := n.start(t)
	var work sync.WaitGroup
	for range each + 2 {
		c := s.older("token of ann")
		c.ask(opening)
		call := strings.Replace(pushing, `"push"`, `"read","arguments":{"a":"initialize"}`, 1)
		work.Go(func() { c.ask(call) })
	}
	for range each {
		<-n.entered
	}
	bob := s.older("token of bob")
	bob.ask(opening)
	for range 5 {
		if r := bob.ask(strings.Replace(pushing, "push", "safe", 1)); r.isError() {
			t.Errorf("%s", r.raw)
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
	for _, l := range legs() {
		if !l.http {
			continue // there is one principal
		}
		n := newLongToDecide()
		s := n.start(t)
		session := map[string]string{}
		if !l.modern {
			session["ann"], session["bob"] = s.open("token of ann"), s.open("token of bob")
		}
		var work sync.WaitGroup
		for i := range each + 3 {
			work.Go(func() {
				if r := s.asPrincipal(l, "token of ann", session["ann"], string(rune('1'+i)), "read"); r.isError() || r.status != http.StatusOK {
					t.Errorf("%s", r.raw)
				}
			})
		}
		for range each {
			<-n.entered
		}
		ctx, gone := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.http.URL+"/mcp", strings.NewReader(s.modernCall().body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = s.as("token of ann").header
		work.Go(func() {
			if response, err := http.DefaultClient.Do(r); err == nil { // it disconnected too late
				_ = response.Body.Close()
			}
		})
		for range 5 {
			if r := s.asPrincipal(l, "token of bob", session["bob"], "1", "safe"); r.isError() || r.status != http.StatusOK {
				t.Errorf("%s", r.raw)
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
	inner, busy, goOn := rounds(), make(chan struct{}, 100), make(chan struct{})
	first := inner.Run
	inner.Run = func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
		if len(c.Params["requestState"]) > 0 {
			busy <- struct{}{}
			<-goOn
		}
		return first(ctx, c)
	}
	s := start(t, setup{rules: "block danger\n", server: testserver.Options{Eras: testserver.Modern, Tools: append(testserver.Attack(), inner)}})
	s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	c := &client{site: s, leg: legs()[2], version: "2026-07-28", capabilities: canAll}
	call := func(more string) message {
		p := s.as("token of ann")
		p.header.Set("Mcp-Name", "curious")
		p.body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + c.meta("") + `"name":"curious"` + more + `}}`
		status, _, body := s.fetch(p)
		return parseMessage([]byte(body), status)
	}
	var work sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		state := at(call("").result, "requestState")
		work.Go(func() {
			if r := call(`,"inputResponses":{"who":` + nameGiven + `},"requestState":` + state); at(r.result, "heard") != nameGiven {
				t.Errorf("%s", r.raw)
			}
		})
		<-busy
	}
	if r := s.asPrincipal(legs()[2], "token of ann", "", "2", "safe"); r.isError() || r.status != http.StatusOK {
		t.Errorf("%s", r.raw)
	}
	close(goOn)
	work.Wait()
}
