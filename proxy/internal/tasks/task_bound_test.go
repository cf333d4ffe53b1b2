package tasks_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestTaskBoundExact checks that exactly as many concurrent calls are sent as there are slots for
// their tasks, and that each of them gets its task. A call whose upstream has not created the task
// yet keeps its slot.
func TestTaskBoundExact(t *testing.T) {
	const room, calls = 128, 200
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		for _, eras := range []testserver.Revisions{testserver.Legacy, testserver.Modern} {
			if !l.Modern && eras == testserver.Modern {
				continue
			}
			s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Revisions: eras}})
			c := s.Connect(l, proxytest.CanTasks)
			var ids []string
			for range calls {
				ids = append(ids, c.CallAsTask("slow", `{}`, ""))
			}
			made, other := 0, proxytest.Message{}
			for _, id := range ids {
				r := c.Reply(id)
				if strings.Contains(string(r.Raw), `"taskId"`) {
					made++
					continue
				}
				if other = r; strings.Contains(string(r.Raw), "cannot be followed") {
					t.Errorf("%s", r.Raw)
				}
			}
			if made != room {
				t.Errorf("%d tasks were made, want %d; the last other reply: %s", made, room, other.Raw)
			}
			s.Executed("slow", room)
			if n := s.OpenCalls(); n != room {
				t.Errorf("%d calls are open, want %d", n, room)
			}
		}
	})
}

// TestTaskPlaceGivenBack checks that a call that is refused, that fails, or that does not become a
// task keeps no slot.
func TestTaskPlaceGivenBack(t *testing.T) {
	plain := testserver.Tool{Name: "plain", Task: "never", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) { return testserver.Text("done"), nil }}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Tools: append(testserver.Attack(), plain)}})
		c := s.Connect(l, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
		for range 130 {
			c.Reply(c.CallAsTask("danger", `{}`, ""))  // blocked
			c.Reply(c.CallAsTask("deploy", `{}`, ""))  // no person can be asked
			c.Reply(c.CallAsTask("missing", `{}`, "")) // unknown tool
			c.Reply(c.CallAsTask("plain", `{}`, ""))   // the upstream creates no task for it
		}
		s.Executed("plain", 130)
		c.BeginTask("slow", `{}`)
	})
}
