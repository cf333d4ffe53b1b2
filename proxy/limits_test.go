package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestCallsOverLimitAreRefused: a call over the limit is refused before the gate decides, and a
// call that ends, in any way, makes room.
func TestCallsOverLimitAreRefused(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "limit slow to 4 per session\nlimit safe to 3 per session\nblock danger\n", change: func(o *proxy.Options) {
			o.Upstreams[0].Limits.InFlight = 2
		}})
		c := s.connect(l, "")
		one, two := c.call("slow", `{}`), c.call("slow", `{}`)
		s.awaitExecuted("slow", 2)
		for range 3 {
			if r := c.refuses("safe", `{}`, "busy"); !strings.Contains(r.text(), "2 calls of the upstream up are under way, and no more are allowed at a time (limits.inFlight)") {
				t.Errorf("%s", r.text())
			}
		}
		s.upstream.Release()
		c.reply(one)
		c.reply(two)
		c.refuses("danger", `{}`, "blocked") // it takes no slot
		c.refuses("danger", `{}`, "blocked")
		c.refuses("danger", `{}`, "blocked")
		c.must("safe", `{}`)
		given := c.call("slow", `{}`)
		other := c.call("slow", `{}`)
		s.awaitExecuted("slow", 4)
		c.refuses("safe", `{}`, "busy")
		c.cancel(given)
		s.eventually("there is room", func() bool { return !c.do("safe", `{}`).isError() })
		s.upstream.Release()
		c.reply(other)
		c.must("safe", `{}`)                                          // the third and last: the refusals cost nothing
		if r := c.do("safe", `{}`); r.decision("kind") != "blocked" { // cancelled calls may end meanwhile
			t.Errorf("%s", r.raw)
		}
	})
}

// TestInFlightApproval: a call that waits for a person takes no slot, and one that finds no slot
// after its approval keeps the consent.
func TestInFlightApproval(t *testing.T) {
	s := start(t, setup{change: func(o *proxy.Options) {
		o.Upstreams[0].Limits.InFlight = 1
		o.Approval.Channels = []string{"elicit", "cli"}
	}})
	c := s.connect(legs()[1], "")
	waits := c.call("deploy", `{}`)
	asked := s.pending(1)[0]
	slow := c.call("slow", `{}`)
	s.awaitExecuted("slow", 1)
	if err := s.proxy.Resolve(asked.ID, true, "tester", ""); err != nil {
		t.Fatal(err)
	}
	if r := c.reply(waits); r.decision("kind") != "busy" {
		t.Errorf("%s", r.raw)
	}
	s.upstream.Release()
	c.reply(slow)
	c.must("deploy", `{}`)
	s.executed("deploy", 1)
}

// TestMessageSize: a server's message over the limit is not read; the outcome is unknown, and other
// calls continue.
func TestMessageSize(t *testing.T) {
	long := testserver.Tool{Name: "long", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
		return testserver.Text(strings.Repeat("x", 20_000)), nil
	}}
	for size, fits := range map[int]bool{16_000: false, 0: true} {
		s := start(t, setup{server: testserver.Options{Tools: append(testserver.Attack(), long)}, change: func(o *proxy.Options) {
			o.Upstreams[0].Limits.MessageSize = size
		}})
		c := s.connect(legs()[1], "")
		r := c.do("long", `{}`)
		if fits == r.isError() || !fits && (r.decision("kind") != "unknown" || !strings.Contains(r.text(), "more than 16000 bytes")) {
			t.Errorf("%d: %.300s", size, r.raw)
		}
		c.must("safe", `{}`)
	}
}
