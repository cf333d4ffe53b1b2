package cel

import (
	"sync"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestConcurrent reads calls of several sessions at the same time.
func TestConcurrent(t *testing.T) {
	c := NewCompiler()
	r := c.NewReader()
	n, err := r.Expr(`args.l.exists(x, x == 3) && args.s.matches("^[a-z]+$")`)
	if err != nil {
		t.Fatal(err)
	}
	cond, err := c.Condition(`args.s in meta.?seen.orValue([])`, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			call := gate.Call{Tool: "t", Args: []byte(`{"l":[1,2,3],"s":"abc"}`)}
			for range 100 {
				if r.Read(&call, "").Finds(n) != gate.Surely {
					t.Error("not found")
				}
				if ok, err := cond.Holds(NewInput(gate.Firing{Call: call, Meta: gate.Meta{"seen": []any{"abc"}}})); !ok || err != nil {
					t.Error(ok, err)
				}
				if _, err := c.Value(`args.s + "x"`, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
