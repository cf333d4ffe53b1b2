package proxy_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy"
)

// TestTurns: calls of one principal that take long to decide leave a processor to
// others, and a client that goes meanwhile leaves none taken.
func TestTurns(t *testing.T) {
	each := max(1, runtime.GOMAXPROCS(0)/2)
	for _, l := range legs() {
		if !l.http {
			continue // there is one principal
		}
		var inside, most, decided atomic.Int64
		entered, goOn := make(chan struct{}, 100), make(chan struct{})
		long := gate.Net{Name: "long", Mapper: func(c gate.Call) []gate.Name {
			if c.Tool == "read" {
				decided.Add(1)
				most.Store(max(most.Load(), inside.Add(1)))
				entered <- struct{}{}
				<-goOn
				inside.Add(-1)
			}
			return nil
		}}
		s := start(t, setup{policy: netPolicy(t, long)})
		s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
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
			<-entered
		}
		ctx, gone := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.http.URL+"/mcp", strings.NewReader(s.modernCall().body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = s.as("token of ann").header
		work.Go(func() {
			if response, err := http.DefaultClient.Do(r); err == nil { // it went too late
				_ = response.Body.Close()
			}
		})
		for range 5 {
			if r := s.asPrincipal(l, "token of bob", session["bob"], "1", "safe"); r.isError() || r.status != http.StatusOK {
				t.Errorf("%s", r.raw)
			}
		}
		gone()
		close(goOn)
		work.Wait()
		if most.Load() != int64(each) || decided.Load() < int64(each+3) {
			t.Errorf("%d of %d calls at the same time, want %d", most.Load(), decided.Load(), each)
		}
	}
}
