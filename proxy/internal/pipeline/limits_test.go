package pipeline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestCallsOverLimitAreRefused: a call over the limit is refused before the gate decides, and a
// call that ends, in any way, makes room.
func TestCallsOverLimitAreRefused(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit slow to 4 per session\nlimit safe to 3 per session\nblock danger\n", Change: func(o *proxy.Options) {
			o.Upstreams[0].Limits.InFlight = 2
		}})
		c := s.Connect(l, "")
		one, two := c.Call("slow", `{}`), c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 2)
		for range 3 {
			if r := c.Refuses("safe", `{}`, "busy"); !strings.Contains(r.Text(), "2 calls of the upstream up are in flight, the maximum (limits.inFlight)") {
				t.Errorf("%s", r.Text())
			}
		}
		s.Upstream.Release()
		c.Reply(one)
		c.Reply(two)
		c.Refuses("danger", `{}`, "blocked") // it takes no slot
		c.Refuses("danger", `{}`, "blocked")
		c.Refuses("danger", `{}`, "blocked")
		c.Must("safe", `{}`)
		given := c.Call("slow", `{}`)
		other := c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 4)
		c.Refuses("safe", `{}`, "busy")
		c.Cancel(given)
		s.Eventually("there is room", func() bool { return !c.Do("safe", `{}`).IsError() })
		s.Upstream.Release()
		c.Reply(other)
		c.Must("safe", `{}`)                                          // the third and last: the refusals cost nothing
		if r := c.Do("safe", `{}`); r.Decision("kind") != "blocked" { // cancelled calls may end meanwhile
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestInFlightApproval: a call that waits for a person takes no slot, and one that finds no slot
// after its approval keeps the consent.
func TestInFlightApproval(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Upstreams[0].Limits.InFlight = 1
		o.Approval.Channels = []string{"elicit", "cli"}
	}})
	c := s.Connect(proxytest.Legs()[1], "")
	waits := c.Call("deploy", `{}`)
	asked := s.AwaitPending(1)[0]
	slow := c.Call("slow", `{}`)
	s.AwaitExecuted("slow", 1)
	if err := s.Proxy.Resolve(asked.ID, true, "tester", ""); err != nil {
		t.Fatal(err)
	}
	if r := c.Reply(waits); r.Decision("kind") != "busy" {
		t.Errorf("%s", r.Raw)
	}
	s.Upstream.Release()
	c.Reply(slow)
	c.Must("deploy", `{}`)
	s.Executed("deploy", 1)
}

// TestMessageSize: a server's message over the limit is not read; the outcome is unknown, and other
// calls continue.
func TestMessageSize(t *testing.T) {
	long := testserver.Tool{Name: "long", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
		return testserver.Text(strings.Repeat("x", 20_000)), nil
	}}
	for size, fits := range map[int]bool{16_000: false, 0: true} {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: append(testserver.Attack(), long)}, Change: func(o *proxy.Options) {
			o.Upstreams[0].Limits.MessageSize = size
		}})
		c := s.Connect(proxytest.Legs()[1], "")
		r := c.Do("long", `{}`)
		if fits == r.IsError() || !fits && (r.Decision("kind") != "unknown" || !strings.Contains(r.Text(), "more than 16000 bytes")) {
			t.Errorf("%d: %.300s", size, r.Raw)
		}
		c.Must("safe", `{}`)
	}
}
