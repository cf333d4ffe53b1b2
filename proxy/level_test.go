package proxy_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// setLevel asks for log messages of a level and above.
func (c *client) setLevel(level string) {
	c.t.Helper()
	if r := c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"logging/setLevel","params":{"level":"` + level + `"}}`)); r.result == nil {
		c.t.Fatalf("%s", r.raw)
	}
}

// logged fails unless a client got just these messages, one of each level, of
// those that the upstream has sent, the last of which is an emergency.
func (c *client) logged(levels ...string) {
	c.t.Helper()
	for _, level := range append(levels, "emergency") {
		m := c.questioned("notifications/message")
		if at(m.params, "level") != `"`+level+`"` {
			c.t.Errorf("%s, want level %s", m.raw, level)
		}
	}
}

// everyLevel sends one message of each level, on no call.
func (s *site) everyLevel() {
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		s.upstream.Notify("notifications/message", `{"level":"`+level+`","data":1}`)
	}
}

// TestLevels: an upstream is told the most verbose level that a session wants,
// each session gets what it asked for of that, and the level follows when one
// asks for another or ends.
func TestLevels(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy}})
		s.awaitSubscribed()
		upstreamHas := func(level string) {
			t.Helper()
			s.eventually("the upstream has the level "+level, func() bool {
				return at([]byte(s.received("logging/setLevel")), "params", "level") == `"`+level+`"`
			})
		}
		loud, quiet, silent := s.connect(l, ""), s.connect(l, ""), s.connect(l, "")
		for _, c := range []*client{loud, quiet, silent} {
			c.listenToPushes()
			c.list() // what was sent before is read
		}
		s.everyLevel() // nobody has asked: the upstream decides
		silent.logged("debug", "info", "notice", "warning", "error", "critical", "alert")
		loud.logged("debug", "info", "notice", "warning", "error", "critical", "alert")
		quiet.logged("debug", "info", "notice", "warning", "error", "critical", "alert")

		quiet.setLevel("error")
		upstreamHas("info") // for the sake of those that have not asked
		loud.setLevel("debug")
		upstreamHas("debug")
		s.everyLevel()
		loud.logged("debug", "info", "notice", "warning", "error", "critical", "alert")
		quiet.logged("error", "critical", "alert")
		silent.logged("info", "notice", "warning", "error", "critical", "alert")

		loud.setLevel("warning")
		upstreamHas("info")
		silent.close()
		upstreamHas("warning")
		loud.close()
		upstreamHas("error")
		n := s.count("logging/setLevel")
		quiet.setLevel("error") // which it knows
		if got := s.count("logging/setLevel"); got != n {
			t.Errorf("the upstream was told its level again")
		}
		quiet.close()
		upstreamHas("info")
	})
}

// count is how many requests of a method the upstream got.
func (s *site) count(method string) (n int) {
	for _, r := range s.log.Records(testserver.Received) {
		if at(r.Bytes, "method") == `"`+method+`"` {
			n++
		}
	}
	return n
}
