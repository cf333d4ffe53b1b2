package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestTaskBoundExact: of concurrent calls exactly as many are sent as there are slots for their
// tasks, and each of them gets its task. A call whose upstream has not created the task yet keeps
// its slot.
func TestTaskBoundExact(t *testing.T) {
	const room, calls = 128, 200
	eachLeg(t, func(t *testing.T, l leg) {
		for _, eras := range []testserver.Eras{testserver.Legacy, testserver.Modern} {
			if !l.modern && eras == testserver.Modern {
				continue
			}
			s := tasked(t, setup{server: testserver.Options{Eras: eras}})
			c := s.connect(l, takesTasks)
			var ids []string
			for range calls {
				ids = append(ids, c.callAsTask("slow", `{}`, ""))
			}
			made := 0
			for _, id := range ids {
				if r := c.reply(id); strings.Contains(string(r.raw), `"taskId"`) {
					made++
				} else if strings.Contains(string(r.raw), "cannot be followed") {
					t.Errorf("%s", r.raw)
				}
			}
			if made != room {
				t.Errorf("%d tasks were made, want %d", made, room)
			}
			s.executed("slow", room)
			if n := s.openCalls(); n != room {
				t.Errorf("%d calls are open, want %d", n, room)
			}
		}
	})
}

// TestTaskPlaceGivenBack: a call that is refused, fails, or becomes no task keeps no slot.
func TestTaskPlaceGivenBack(t *testing.T) {
	plain := testserver.Tool{Name: "plain", Task: "never", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) { return testserver.Text("done"), nil }}
	eachLeg(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{server: testserver.Options{Tools: append(testserver.Attack(), plain)}})
		c := s.connect(l, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
		for range 130 {
			c.reply(c.callAsTask("danger", `{}`, ""))  // blocked
			c.reply(c.callAsTask("deploy", `{}`, ""))  // no person can be asked
			c.reply(c.callAsTask("missing", `{}`, "")) // unknown tool
			c.reply(c.callAsTask("plain", `{}`, ""))   // the upstream creates no task for it
		}
		s.executed("plain", 130)
		c.begin("slow", `{}`)
	})
}
