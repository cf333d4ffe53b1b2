package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// What the processes of TestKill share: how much of the budget is spent, and what was
// earned by calls that have ended.
var (
	spent  = backend.PartID{Scope: backend.Global, Name: "spent"}
	earned = backend.PartID{Scope: backend.Global, Name: "earned"}
)

const budgetOf = "PETRIGATE_TEST_BUDGET"

// TestKill kills processes with signal 9 at random points of calls that spend one budget.
// Each call reserves, says so, and settles. PETRIGATE_SOAK is how many calls there are,
// PETRIGATE_SEED what the points are drawn from.
func TestKill(t *testing.T) {
	seed, calls := soak.Range(t, 300)
	path := place(t)
	told := &told{lines: map[string]bool{}}
	var wait sync.WaitGroup
	kills := make([]int, 3)
	for i := range kills {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for !told.all(t, path, calls, 1+random.IntN(60)) {
				kills[i]++
			}
		})
	}
	wait.Wait()
	t.Logf("%d calls, seed %d, kills: %v", calls, seed, kills)
	if kills[0]+kills[1]+kills[2] < calls/60 {
		t.Error("hardly anything was killed")
	}
	audited(t, path, calls, told.lines)
}

// told is what processes have said before they were killed.
type told struct {
	mu    sync.Mutex
	lines map[string]bool
}

// all runs a process and kills it after some lines, or when it has spent all there is.
func (o *told) all(t *testing.T, path string, calls, lines int) bool {
	c := start(t, "spend", path, budgetOf+"="+strconv.Itoa(calls))
	for range lines {
		line := c.read()
		if line == "" {
			t.Error("a process has ended by itself")
			return true
		}
		if line == "nothing is left" {
			c.end(t)
			return true
		}
		o.note(line)
	}
	_ = c.cmd.Process.Kill()
	for line := c.read(); line != "" && line != "nothing is left"; line = c.read() {
		o.note(line)
	}
	_ = c.cmd.Wait()
	return false
}

func (o *told) note(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines[line] = true
}

// spend is a process of TestKill.
func spend(path string) error {
	budget, err := strconv.Atoi(os.Getenv(budgetOf))
	if err != nil {
		return err
	}
	b, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		id := b.Writer() + strconv.Itoa(n)
		ok, err := add(b, spent, budget, "reserve "+id)
		if err != nil {
			return err
		}
		if !ok {
			fmt.Println("nothing is left")
			return b.Close()
		}
		fmt.Println("reserve " + id) // here the call is forwarded
		if _, err := add(b, earned, budget, "settle "+id); err != nil {
			return err
		}
		fmt.Println("settle " + id)
	}
}

// add adds 1 to a part that does not pass the bound, with a record.
func add(b *Backend, id backend.PartID, bound int, record string) (bool, error) {
	for {
		parts, err := b.Load(context.Background(), id)
		if err != nil {
			return false, err
		}
		n, _ := strconv.Atoi(string(parts[0].Data)) // 0 for none
		if n >= bound {
			return false, nil
		}
		at := time.Now()
		op := &backend.Op{Reserve: id == spent, Time: at,
			Writes: []backend.Write{{ID: id, Version: parts[0].Version, Data: strconv.AppendInt(nil, int64(n+1), 10)}},
			Events: []backend.Event{{Time: at, Object: []byte(`{"` + record + `":1}`)}},
		}
		if err := b.Commit(context.Background(), []*backend.Op{op}); err != nil {
			return false, err
		}
		if !errors.Is(op.Err, backend.ErrStale) {
			return op.Err == nil, op.Err
		}
	}
}

// audited looks at what is left: the pages, the chains, the budget, what was told.
func audited(t *testing.T, path string, calls int, lines map[string]bool) {
	t.Helper()
	b := open(t, Options{Path: path})
	verdict := ""
	if _, err := b.scribe.link.row("PRAGMA integrity_check", nil, &verdict); err != nil || verdict != "ok" {
		t.Error(verdict, err)
	}
	ends := map[string]backend.Record{}
	on, count := map[string]bool{}, map[string]int{}
	for r, err := range b.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		last := ends[r.Writer]
		if r.Seq != last.Seq+1 || r.Hash != audit.Link(last.Hash, r.Seq, r.Object) {
			t.Fatalf("record %d of %s is not the next of its chain", r.Seq, r.Writer)
		}
		ends[r.Writer] = r
		what := strings.TrimSuffix(strings.TrimPrefix(string(r.Object), `{"`), `":1}`)
		on[what] = true
		kind, call, _ := strings.Cut(what, " ")
		if count[kind]++; kind == "settle" && !on["reserve "+call] {
			t.Errorf("%s was settled and never reserved", call)
		}
	}
	for line := range lines {
		if !on[line] {
			t.Errorf("%q was told, and is not on record", line)
		}
	}
	parts, err := b.Load(t.Context(), spent, earned)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(parts[0].Data); got != strconv.Itoa(calls) || count["reserve"] != calls {
		t.Errorf("%s of %d are spent by %d calls", got, calls, count["reserve"])
	}
	if got := string(parts[1].Data); got != strconv.Itoa(count["settle"]) || count["settle"] > calls {
		t.Errorf("%s are earned by %d calls", got, count["settle"])
	}
}
