package pipeline_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestIdleWhileAsked: a session does not expire while a person thinks about one of its calls,
// whether the call is held or parked, nor before the client calls again for the answer.
func TestIdleWhileAsked(t *testing.T) {
	now := proxytest.NewClock()
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Now = now.Now
		o.Approval = proxy.Approval{Channels: []string{"cli"}, HoldFor: func(client string) time.Duration {
			return map[string]time.Duration{"held": time.Hour}[client]
		}}
	}})
	impatient := httptest.NewUnstartedServer(nil)
	defer impatient.Close()
	if _, err := s.Proxy.Handler(proxy.Access{Addr: impatient.Listener.Addr().String(), Token: proxytest.Token, IdleTTL: 8 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	parked := s.Connect(proxytest.Legs()[1], "")
	s.ClientName = "held"
	held := s.Connect(proxytest.Legs()[1], "")
	parked.Parks("deploy", `{"n":1}`)
	id := held.Call("deploy", `{"n":2}`)
	waiting := s.AwaitPending(2)
	othersEnd := func() {
		t.Helper()
		s.Connect(proxytest.Legs()[1], "")
		now.Move(time.Second)
		s.Eventually("the idle session has ended", func() bool { return len(s.Proxy.Sessions()) == 2 })
	}
	othersEnd()
	othersEnd() // after another check of all sessions
	for _, a := range waiting {
		if err := s.Proxy.Resolve(a.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
	}
	if r := held.Reply(id); r.IsError() || r.Result == nil {
		t.Errorf("%s", r.Raw)
	}
	now.Move(time.Second)
	s.Eventually("the session that waits for nobody has ended", func() bool { return len(s.Proxy.Sessions()) == 1 })
	parked.Must("deploy", `{"n":1}`)
	s.Executed("deploy", 2)
}
