package relay_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// setLevel requests log messages of a level and above.
func setLevel(c *proxytest.Client, level string) {
	c.T.Helper()
	if r := c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"logging/setLevel","params":{"level":"` + level + `"}}`)); r.Result == nil {
		c.T.Fatalf("%s", r.Raw)
	}
}

// logged fails unless a client got exactly these messages, one per level, of those that the
// upstream has sent; the last one is an emergency.
func logged(c *proxytest.Client, levels ...string) {
	c.T.Helper()
	for _, level := range append(levels, "emergency") {
		m := c.AwaitRequest("notifications/message")
		if proxytest.Member(m.Params, "level") != `"`+level+`"` {
			c.T.Errorf("%s, want level %s", m.Raw, level)
		}
	}
}

// everyLevel sends one message of each level outside of calls.
func everyLevel(s *proxytest.Site) {
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		s.Upstream.Notify("notifications/message", `{"level":"`+level+`","data":1}`)
	}
}

// TestUpstreamLevelIsMostVerbose: an upstream gets the most verbose level that a session requests,
// each session gets its own level of that, and the upstream's level follows when a session requests
// another or ends.
func TestUpstreamLevelIsMostVerbose(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy}})
		s.AwaitSubscribed()
		upstreamHas := func(level string) {
			t.Helper()
			s.Eventually("the upstream has the level "+level, func() bool {
				return proxytest.Member([]byte(s.LastReceived("logging/setLevel")), "params", "level") == `"`+level+`"`
			})
		}
		loud, quiet, silent := s.Connect(l, ""), s.Connect(l, ""), s.Connect(l, "")
		for _, c := range []*proxytest.Client{loud, quiet, silent} {
			c.ListenToPushes()
			c.List() // earlier messages have been read
		}
		everyLevel(s) // no session has set a level: the upstream decides
		logged(silent, "debug", "info", "notice", "warning", "error", "critical", "alert")
		logged(loud, "debug", "info", "notice", "warning", "error", "critical", "alert")
		logged(quiet, "debug", "info", "notice", "warning", "error", "critical", "alert")

		setLevel(quiet, "error")
		upstreamHas("info") // for the sessions without a level
		setLevel(loud, "debug")
		upstreamHas("debug")
		everyLevel(s)
		logged(loud, "debug", "info", "notice", "warning", "error", "critical", "alert")
		logged(quiet, "error", "critical", "alert")
		logged(silent, "info", "notice", "warning", "error", "critical", "alert")

		setLevel(loud, "warning")
		upstreamHas("info")
		silent.Close()
		upstreamHas("warning")
		loud.Close()
		upstreamHas("error")
		n := count(s, "logging/setLevel")
		setLevel(quiet, "error") // the upstream knows it already
		if got := count(s, "logging/setLevel"); got != n {
			t.Errorf("the upstream was told its level again")
		}
		quiet.Close()
		upstreamHas("info")
	})
}

// count returns how many requests of a method the upstream got.
func count(s *proxytest.Site, method string) (n int) {
	for _, r := range s.Log.Records(testserver.Received) {
		if proxytest.Member(r.Bytes, "method") == `"`+method+`"` {
			n++
		}
	}
	return n
}
