package replicas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/testserver"
)

// questions is the number of different calls of y in each round. Each requires an approval.
const questions = 8

// An answer is what an operator has answered, or has tried to answer.
type answer struct {
	arguments string // hash of the arguments that were shown
	approves  bool
	sure      bool // whether petrigate has confirmed that the answer counts
}

// A use is the admission of a call that a person was asked about.
type use struct{ approval, arguments string }

// A book contains people's answers and the executed calls.
type book struct {
	mu       sync.Mutex
	answers  map[string]answer // keyed by approval
	executed map[string]int    // calls of y, keyed by the hash of their arguments
}

func newBook() *book { return &book{answers: map[string]answer{}, executed: map[string]int{}} }

func (b *book) execute(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.executed[hash(c.Args)]++
	return testserver.Text("y"), nil
}

func hash(arguments []byte) string {
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}

// decide returns the operator's answer to a question. Some calls are denied, and all others are
// approved once.
func (b *book) decide(id, arguments string, n int) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, is := b.answers[id]
	if is {
		return a
	}
	a = answer{arguments: arguments, approves: n%4 != 3}
	for _, before := range b.answers {
		if before.arguments == arguments && before.approves && before.sure {
			a.approves = false
		}
	}
	b.answers[id] = a
	return a
}

func (b *book) counts(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.answers[id]
	a.sure = true
	b.answers[id] = a
}

// judge returns the violations: a call without an approval of exactly its arguments, an approval
// that was used twice, or an approval that was never used by the time everything has ended. In a
// round without faults, everything that was admitted must have been executed.
func (b *book) judge(uses []use, faults bool) (wrong []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	admitted, used := map[string]int{}, map[string]bool{}
	for _, u := range uses {
		switch a, is := b.answers[u.approval]; {
		case !is || !a.approves:
			wrong = append(wrong, fmt.Sprintf("admitted by %q, which nobody has approved", u.approval))
		case a.arguments != u.arguments:
			wrong = append(wrong, fmt.Sprintf("approval %s was of other arguments", u.approval))
		case used[u.approval]:
			wrong = append(wrong, fmt.Sprintf("approval %s was used twice", u.approval))
		}
		used[u.approval] = true
		admitted[u.arguments]++
	}
	for arguments, n := range b.executed {
		if n > admitted[arguments] {
			wrong = append(wrong, fmt.Sprintf("executed %d times, admitted %d times: %s", n, admitted[arguments], arguments))
		}
	}
	for arguments, n := range admitted {
		if !faults && b.executed[arguments] != n {
			wrong = append(wrong, fmt.Sprintf("executed %d times, admitted %d times: %s", b.executed[arguments], n, arguments))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.answers)) {
		if a := b.answers[id]; a.approves && a.sure && !used[id] {
			wrong = append(wrong, fmt.Sprintf("approval %s is lost", id))
		}
	}
	return wrong
}

// TestJudge checks that judge detects each kind of violation.
func TestJudge(t *testing.T) {
	cases := map[string]struct {
		change func(b *book, uses []use) []use
		want   string
	}{
		"all is well":            {func(_ *book, uses []use) []use { return uses }, ""},
		"executed on no record":  {func(b *book, uses []use) []use { b.executed["a"]++; return uses }, "executed 2 times, admitted 1"},
		"never asked":            {func(b *book, uses []use) []use { b.executed["b"]++; return append(uses, use{"", "b"}) }, "nobody has approved"},
		"denied":                 {func(b *book, uses []use) []use { b.executed["c"]++; return append(uses, use{"ap_c", "c"}) }, "nobody has approved"},
		"of other arguments":     {func(b *book, uses []use) []use { b.executed["a"]--; b.executed["d"]++; return []use{{"ap_a", "d"}} }, "of other arguments"},
		"twice":                  {func(b *book, uses []use) []use { b.executed["a"]++; return append(uses, uses[0]) }, "used twice"},
		"lost":                   {func(b *book, _ []use) []use { b.executed["a"]--; return nil }, "is lost"},
		"admitted, not executed": {func(b *book, uses []use) []use { b.executed["a"]--; return uses }, "executed 0 times, admitted 1"},
	}
	for name, c := range cases {
		b := newBook()
		b.answers = map[string]answer{"ap_a": {"a", true, true}, "ap_c": {"c", false, true}}
		b.executed["a"] = 1
		got := strings.Join(b.judge(c.change(b, []use{{"ap_a", "a"}}), false), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// operate answers pending questions until ctx ends. It reads them at one replica and answers at
// another one, using the command line.
func (b *book) operate(ctx context.Context, bin string, f *fleet) {
	for i := 0; ctx.Err() == nil; i++ {
		var list struct {
			Approvals []struct {
				ID, State, Tool, SHA256 string
				Arguments               struct{ N int }
			}
		}
		out, err := command(ctx, bin, f.get(i), "ls", "--json")
		if err == nil {
			err = json.Unmarshal(out, &list)
		}
		if err != nil {
			<-time.After(10 * time.Millisecond) // the replica is just being killed
			continue
		}
		for _, q := range list.Approvals {
			if q.State != "pending" || q.Tool != "y" {
				continue
			}
			answer := []string{"deny", q.ID}
			if b.decide(q.ID, q.SHA256, q.Arguments.N).approves {
				answer = []string{"approve", "--yes", q.ID}
			}
			if _, err := command(ctx, bin, f.get(i+1), answer...); err == nil {
				b.counts(q.ID)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func command(ctx context.Context, bin string, r *replica, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, bin, append([]string{"approvals"}, args...)...)
	c.Env = append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(r.dir, "run"))
	return c.Output()
}

// request calls y until the call is executed or denied. It starts at one replica; after the call
// has waited, it continues each round at all three replicas at once.
func (f *fleet) request(t *testing.T, n int, wait func()) {
	args := fmt.Sprintf(`{"n":%d}`, n)
	_, body := f.call(n, "y", args)
	wait()
	for began := time.Now(); time.Since(began) < 2*time.Minute; {
		more := ""
		var reply struct{ Result struct{ RequestState string } }
		if json.Unmarshal([]byte(body), &reply) == nil && reply.Result.RequestState != "" {
			more = fmt.Sprintf(`,"requestState":%q`, reply.Result.RequestState)
		}
		var all sync.WaitGroup
		done, bodies := [3]bool{}, [3]string{}
		for i := range 3 {
			all.Go(func() { done[i], bodies[i] = f.call(n+i, "y", args+more) })
		}
		all.Wait()
		for i := range 3 {
			if done[i] && !strings.Contains(bodies[i], "input_required") || strings.Contains(bodies[i], "denied") {
				return
			}
			if strings.Contains(bodies[i], "requestState") {
				body = bodies[i]
			}
		}
		if body == "" || !strings.Contains(strings.Join(bodies[:], ""), "requestState") { // the call was parked, or the database is unreachable
			body = ""
			<-time.After(20 * time.Millisecond)
		}
	}
	t.Errorf("a call of y with %s never ends: %s", args, body)
}

// uses returns the approvals that admitted calls of y.
func uses(t *testing.T, conn *pgx.Conn) (all []use) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT coalesce(event::json->>'approval', ''), event::json->>'arguments' FROM petrigate_log
		WHERE event::json->>'event' = 'decision' AND event::json->>'decision' = 'allow' AND event::json->>'tool' = 'y'`)
	if err == nil {
		var u use
		_, err = pgx.ForEachRow(rows, []any{&u.approval, &u.arguments}, func() error { all = append(all, u); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}
