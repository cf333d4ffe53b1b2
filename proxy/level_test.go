package proxy_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// setLevel requests log messages of a level and above.
func (c *client) setLevel(level string) {
	c.t.Helper()
	if r := c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"logging/setLevel","params":{"level":"` + level + `"}}`)); r.result == nil {
		c.t.Fatalf("%s", r.raw)
	}
}

// logged fails unless a client got exactly these messages, one per level, of those that the
// upstream has sent; the last one is an emergency.
func (c *client) logged(levels ...string) {
	c.t.Helper()
	for _, level := range append(levels, "emergency") {
		m := c.questioned("notifications/message")
		if at(m.params, "level") != `"`+level+`"` {
			c.t.Errorf("%s, want level %s", m.raw, level)
		}
	}
}

// everyLevel sends one message of each level outside of calls.
func (s *site) everyLevel() {
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		s.upstream.Notify("notifications/message", `{"level":"`+level+`","data":1}`)
	}
}

// TestUpstreamLevelIsMostVerbose: an upstream gets the most verbose level that a session requests,
// each session gets its own level of that, and the upstream's level follows when a session requests
// another or ends.
func TestUpstreamLevelIsMostVerbose(t *testing.T) {
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
			c.list() // earlier messages have been read
		}
		s.everyLevel() // no session has set a level: the upstream decides
		silent.logged("debug", "info", "notice", "warning", "error", "critical", "alert")
		loud.logged("debug", "info", "notice", "warning", "error", "critical", "alert")
		quiet.logged("debug", "info", "notice", "warning", "error", "critical", "alert")

		quiet.setLevel("error")
		upstreamHas("info") // for the sessions without a level
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
		quiet.setLevel("error") // the upstream knows it already
		if got := s.count("logging/setLevel"); got != n {
			t.Errorf("the upstream was told its level again")
		}
		quiet.close()
		upstreamHas("info")
	})
}

// count returns how many requests of a method the upstream got.
func (s *site) count(method string) (n int) {
	for _, r := range s.log.Records(testserver.Received) {
		if at(r.Bytes, "method") == `"`+method+`"` {
			n++
		}
	}
	return n
}
