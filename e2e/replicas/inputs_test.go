package replicas

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// inputBudget is the number of allowed calls of w. Each takes two rounds.
const inputBudget = 12

// inputs records the calls of w, which requires a second round.
type inputs struct {
	mu    sync.Mutex
	begun int
	ended map[string]int // number of second rounds, keyed by the server's requestState
}

func newInputs() *inputs { return &inputs{ended: map[string]int{}} }

func (w *inputs) execute(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if state := string(c.Params["requestState"]); state != "" {
		w.ended[state]++
		return json.RawMessage(`{"resultType":"complete","content":[]}`), nil
	}
	w.begun++
	return json.RawMessage(`{"resultType":"input_required","requestState":"` + strconv.Itoa(w.begun) + `"}`), nil
}

// judge returns the violations: a second round that ran twice, or calls that were not admitted. In
// a round without faults, no call whose client came back may be lost.
func (w *inputs) judge(admitted, back int, faults bool) (wrong []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun > admitted || admitted > inputBudget {
		wrong = append(wrong, fmt.Sprintf("%d calls of w are begun, and %d admitted, of %d", w.begun, admitted, inputBudget))
	}
	for _, state := range slices.Sorted(maps.Keys(w.ended)) {
		if n := w.ended[state]; n > 1 {
			wrong = append(wrong, fmt.Sprintf("the second round of %s ran %d times", state, n))
		}
	}
	if n := len(w.ended); n > back || !faults && n != back {
		wrong = append(wrong, fmt.Sprintf("%d of %d calls were ended", n, back))
	}
	return wrong
}

// TestJudgeInputs checks that judge detects each kind of violation.
func TestJudgeInputs(t *testing.T) {
	for want, plant := range map[string]func(*inputs) int{
		"":               func(*inputs) int { return 2 },
		"ran 2 times":    func(w *inputs) int { w.ended[`"1"`]++; return 2 },
		"2 admitted":     func(w *inputs) int { w.begun++; return 2 },
		"2 of 3 calls":   func(*inputs) int { return 3 },
		"3 of 2 calls":   func(w *inputs) int { w.ended[`"3"`]++; return 2 },
		"and 2 admitted": func(w *inputs) int { w.begun = 3; return 2 },
	} {
		w := newInputs()
		w.begun, w.ended = 2, map[string]int{`"1"`: 1, `"2"`: 1}
		back := plant(w)
		if got := strings.Join(w.judge(2, back, false), "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
	}
}

// begin starts as many calls of w as the budget allows, each at one replica. It returns the states
// of those calls whose clients will come back. Because the budget is then used up, using a state
// twice would be noticed.
func (f *fleet) begin(calls int) (states []string) {
	over := func(body string) bool { return strings.Contains(body, "reached its limit") }
	for began := time.Now(); time.Since(began) < time.Minute; {
		_, body := f.call(len(states), "w", `{}`)
		var reply struct{ Result struct{ RequestState string } }
		switch {
		case over(body):
			return states
		case json.Unmarshal([]byte(body), &reply) == nil && reply.Result.RequestState != "" && len(states) < calls:
			states = append(states, reply.Result.RequestState)
		}
	}
	return states
}

// end comes back with a state at all replicas at once, until one of them has continued the call.
func (f *fleet) end(t *testing.T, n int, state string) {
	args := fmt.Sprintf(`{},"requestState":%q`, state)
	for began := time.Now(); time.Since(began) < time.Minute; <-time.After(10 * time.Millisecond) {
		var all sync.WaitGroup
		done, bodies := [3]bool{}, [3]string{}
		for i := range 3 {
			all.Go(func() { done[i], bodies[i] = f.call(n+i, "w", args) })
		}
		all.Wait()
		refused := 0
		for i := range 3 {
			if strings.Contains(bodies[i], "reached its limit") {
				refused++
			}
		}
		if refused == 3 || slices.Contains(done[:], true) {
			return
		}
	}
	t.Errorf("call %d of w never ends", n)
}
