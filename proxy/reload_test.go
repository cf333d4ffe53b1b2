package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/proxy"
)

// TestReloadUnderLoad: 64 clients call while the policy is replaced repeatedly. Every call is
// answered, each is judged by one policy as a whole, and no more calls pass than the largest limit
// allows, however often it shrinks and grows.
func TestReloadUnderLoad(t *testing.T) {
	t.Run("memory", func(t *testing.T) { reloadUnderLoad(t, nil) })
	t.Run("sqlite", func(t *testing.T) {
		b, err := journal.Open(t.Context(), journal.Options{Path: filepath.Join(t.TempDir(), "state.db"), Sync: journal.Normal})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		reloadUnderLoad(t, func(o *proxy.Options) { o.Database = b })
	})
}

func reloadUnderLoad(t *testing.T, change func(*proxy.Options)) {
	t.Helper()
	reloads := 30
	if os.Getenv("PETRIGATE_SOAK") != "" {
		reloads = 1000
	}
	const most = 150
	wide := fmt.Sprintf("limit push to %d per user\nblock danger\n", most)
	s := proxytest.Start(t, proxytest.Setup{Rules: wide, Change: change})
	var made atomic.Int64
	calls, stop := make(chan struct{}), make(chan struct{})
	var clients sync.WaitGroup
	for range 64 {
		c := s.Connect(proxytest.Legs()[1], "")
		clients.Go(func() {
			defer c.Close()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case calls <- struct{}{}:
				}
				made.Add(1)
				c.Do([]string{"push", "danger", "safe"}[i%3], "{}")
			}
		})
	}
	policies := map[string]string{s.Options.Policy.Fingerprint(): "wide"}
	for i := range reloads {
		for range 32 {
			<-calls
		}
		name, rules := "narrow", "limit push to 40 per user\nblock safe\n"
		if i%2 == 1 {
			name, rules = "wide", wide
		}
		p := proxytest.PolicyOf(t, rules)
		policies[p.Fingerprint()] = name
		if _, err := s.Proxy.Reload(t.Context(), proxy.Replacement{Policy: p}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	clients.Wait()
	if _, err := s.Proxy.Reload(t.Context(), proxy.Replacement{Policy: proxytest.PolicyOf(t, wide)}); err != nil {
		t.Fatal(err)
	}
	last := s.Connect(proxytest.Legs()[1], "")
	for made.Add(1); !last.Do("push", "{}").IsError(); made.Add(1) {
	}
	s.Executed("push", most)
	judgedByOne(s, policies, int(made.Load()))
}

// judgedByOne checks the record: as many decisions as calls, each correct under the policy that it
// names.
func judgedByOne(s *proxytest.Site, policies map[string]string, calls int) {
	s.T.Helper()
	decisions, by := s.Records.Decisions(""), map[string]int{}
	for _, r := range decisions {
		name := policies[r.Policy]
		by[name]++
		blocked := map[string]string{"wide": "danger", "narrow": "safe"}[name]
		tool := r.Tool[strings.LastIndexByte(r.Tool, '.')+1:]
		if blocked == "" || tool != "push" && (r.Decision == "refuse") != (tool == blocked) {
			s.T.Fatalf("judged by %q: %+v", name, r)
		}
	}
	if len(decisions) != calls || by["wide"] == 0 || by["narrow"] == 0 {
		s.T.Errorf("%d decisions are on record, by %v, of %d calls", len(decisions), by, calls)
	}
}

// TestReload: the effect on the nets is reported, and the lists of clients follow.
func TestReload(t *testing.T) {
	hand := func(tokens int) gate.Net {
		return gate.Net{Name: "hand", Places: []string{"left", "used"}, Initial: map[string]int{"left": tokens},
			Transitions: []gate.Transition{{Name: "use", Inputs: []string{"left"}, Outputs: []string{"used"}, Tools: gate.Tools("safe")}}}
	}
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t, hand(1))})
	c := s.Connect(proxytest.Legs()[1], "")
	c.Must("safe", "{}")
	next := proxy.Replacement{Policy: proxytest.NetPolicy(t, hand(2))}
	fates, err := s.Proxy.Reload(t.Context(), next)
	if err == nil || len(fates) != 1 || fates[0].Fate != "held" || len(fates[0].Where) != 1 || !strings.HasPrefix(fates[0].Where[0], "session ") {
		t.Fatalf("%+v, %v", fates, err)
	}
	next.Reset = []string{"hnd"}
	if _, err := s.Proxy.Reload(t.Context(), next); err == nil || err.Error() != `unknown net "hnd"; did you mean "hand"?` {
		t.Error(err)
	}
	next.Reset, next.Try = []string{"hand"}, true
	if fates, err := s.Proxy.Reload(t.Context(), next); err != nil || fates[0].Fate != "begun" || fates[0].Lost != 1 {
		t.Errorf("%+v, %v", fates, err)
	}
	if !c.Do("safe", "{}").IsError() {
		t.Error("a trial has put the policy in force")
	}
	next.Try = false
	if _, err := s.Proxy.Reload(t.Context(), next); err != nil {
		t.Error(err)
	}
	c.Must("safe", "{}")
	c.Must("safe", "{}")
	c.Close()
}
