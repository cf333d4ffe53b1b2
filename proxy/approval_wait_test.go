package proxy_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// TestIdleWhileAsked: a session does not expire while a person thinks about one of its calls,
// whether the call is held or parked, nor before the client calls again for the answer.
func TestIdleWhileAsked(t *testing.T) {
	now := newClock()
	s := start(t, setup{change: func(o *proxy.Options) {
		o.Now = now.Now
		o.Approval = proxy.Approval{Channels: []string{"cli"}, HoldFor: func(client string) time.Duration {
			return map[string]time.Duration{"held": time.Hour}[client]
		}}
	}})
	impatient := httptest.NewUnstartedServer(nil)
	defer impatient.Close()
	if _, err := s.proxy.Handler(proxy.Access{Addr: impatient.Listener.Addr().String(), Token: token, IdleTTL: 8 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	parked := s.connect(legs()[1], "")
	s.clientName = "held"
	held := s.connect(legs()[1], "")
	parked.parked("deploy", `{"n":1}`)
	id := held.call("deploy", `{"n":2}`)
	waiting := s.pending(2)
	othersEnd := func() {
		t.Helper()
		s.connect(legs()[1], "")
		now.move(time.Second)
		s.eventually("the idle session has ended", func() bool { return len(s.proxy.Sessions()) == 2 })
	}
	othersEnd()
	othersEnd() // after another check of all sessions
	for _, a := range waiting {
		if err := s.proxy.Resolve(a.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
	}
	if r := held.reply(id); r.isError() || r.result == nil {
		t.Errorf("%s", r.raw)
	}
	now.move(time.Second)
	s.eventually("the session that waits for nobody has ended", func() bool { return len(s.proxy.Sessions()) == 1 })
	parked.must("deploy", `{"n":1}`)
	s.executed("deploy", 2)
}
