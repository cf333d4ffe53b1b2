package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// Parts that the processes of TestKill share: the spent part of the budget, and the number of calls
// that have ended.
var (
	spent  = backend.PartID{Scope: backend.Global, Name: "spent"}
	earned = backend.PartID{Scope: backend.Global, Name: "earned"}
)

const (
	budgetOf  = "PETRIGATE_TEST_BUDGET"
	segmentOf = "PETRIGATE_TEST_SEGMENT" // size of a segment in bytes; empty for the default
	foldsAt   = "PETRIGATE_TEST_FOLDS"   // set if the process folds the log all the time; empty for the default
)

// TestKill kills processes with signal 9 at random points while they make calls that share one
// budget. Each call reserves, reports the reservation, and settles. PETRIGATE_SOAK sets the number
// of calls, and PETRIGATE_SEED the seed for the random points.
func TestKill(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{
		"usual": nil,
		"folds": {foldsAt + "=1"},
		"rolls": {segmentOf + "=3000", foldsAt + "=1"}, // a segment holds several calls and is sealed immediately
		"stays": {segmentOf + "=3000"},                 // a segment is sealed much later
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kill(t, more)
		})
	}
}

func kill(t *testing.T, more []string) {
	seed, calls := soak.Range(t, 120)
	path := place(t)
	told := &told{lines: map[string]bool{}}
	var wait sync.WaitGroup
	kills := make([]int, 3)
	for i := range kills {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for !told.all(t, random, path, append(more[:len(more):len(more)], budgetOf+"="+strconv.Itoa(calls))) {
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

// told collects the lines that processes printed before they were killed.
type told struct {
	mu    sync.Mutex
	lines map[string]bool
}

// all runs a process and kills it after a random number of lines and a random time. It returns true
// if the process has spent the rest of the budget before that.
func (o *told) all(t *testing.T, random *rand.Rand, path string, more []string) bool {
	c := start(t, "spend", path, more...)
	lines, wait := 1+random.IntN(60), time.Duration(random.IntN(3_000))*time.Microsecond
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
	kill := time.AfterFunc(wait, func() { _ = c.cmd.Process.Kill() })
	for line := c.read(); line != "" && line != "nothing is left"; line = c.read() {
		o.note(line)
	}
	kill.Stop()
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	return false
}

func (o *told) note(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines[line] = true
}

// spend is the role of the processes of TestKill. It makes calls until the budget is spent.
func spend(path string) error {
	budget, err := strconv.Atoi(os.Getenv(budgetOf))
	if err != nil {
		return err
	}
	segment, _ := strconv.ParseInt(os.Getenv(segmentOf), 10, 64) // 0 for the default
	b, err := Open(context.Background(), Options{Path: path, segment: segment})
	if err != nil {
		return err
	}
	if os.Getenv(foldsAt) != "" {
		go func() {
			for range time.Tick(100 * time.Microsecond) { // without pauses, folding would leave little processor time for the other processes
				if b.fold() != nil {
					return // the backend is closed
				}
			}
		}()
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
		fmt.Println("reserve " + id) // a real process would forward the call here
		if _, err := add(b, earned, budget, "settle "+id); err != nil {
			return err
		}
		fmt.Println("settle " + id)
	}
}

// add increments a part and records this, unless the part has reached the bound. It reports whether
// it has incremented the part.
func add(b *Backend, id backend.PartID, bound int, record string) (bool, error) {
	for {
		parts, err := b.Load(context.Background(), id)
		if err != nil {
			return false, err
		}
		n, _ := strconv.Atoi(string(parts[0].Data)) // 0 if the part does not exist
		if n >= bound {
			return false, nil
		}
		at := time.Now()
		op := &backend.Op{Reserve: id == spent, Lasts: true, Time: at,
			Writes: []backend.Write{{ID: id, Version: parts[0].Version, Data: strconv.AppendInt(nil, int64(n+1), 10)}},
			Events: []backend.Event{{Time: at, Object: []byte(`{"` + record + `":1}`)}},
		}
		if err := commit(context.Background(), b, op); !errors.Is(err, backend.ErrStale) {
			return err == nil, err
		}
	}
}

// audited checks what remains: the database, the chains of records, and the budget. Each reported
// line must have a record.
func audited(t *testing.T, path string, calls int, lines map[string]bool) {
	t.Helper()
	b := open(t, Options{Path: path})
	on, count := map[string]bool{}, map[string]int{}
	for _, r := range linked(t, b) {
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
	for i, kind := range []string{"reserve", "settle"} {
		if p := parts[i]; string(p.Data) != strconv.Itoa(count[kind]) || p.Version != int64(count[kind]) || count[kind] > calls {
			t.Errorf("%s is %s at version %d, with %d records of %d calls", p.ID.Name, p.Data, p.Version, count[kind], calls)
		}
	}
	if count["reserve"] != calls {
		t.Errorf("%d of %d are spent", count["reserve"], calls)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	long := time.Now().Add(-2 * maxTempAge)
	for _, name := range files(t, path) {
		if err := os.Chtimes(name, long, long); err != nil {
			t.Error(err)
		}
	}
	if err := open(t, Options{Path: path}).Close(); err != nil {
		t.Error(err)
	}
	tidy(t, path)
}

// linked returns all records. It checks that their chains are complete and end with the recorded
// heads.
func linked(t *testing.T, b *Backend) (all []backend.Record) {
	t.Helper()
	ends := map[string]backend.Record{}
	for r, err := range b.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		last := ends[r.Writer]
		if r.Seq != last.Seq+1 || r.Hash != audit.Link(last.Hash, r.Seq, r.Object) {
			t.Fatalf("record %d of %s is not the next of its chain, which has %d", r.Seq, r.Writer, last.Seq)
		}
		ends[r.Writer] = r
		all = append(all, r)
	}
	heads, err := b.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		if end := ends[h.Writer]; end.Seq != h.Seq || end.Hash != h.Hash {
			t.Errorf("the chain of %s ends with record %d, and has %d", h.Writer, h.Seq, end.Seq)
		}
		delete(ends, h.Writer)
	}
	for writer := range maps.Keys(ends) {
		t.Errorf("%s has no head", writer)
	}
	return all
}

// files returns the paths of the database and of the files beside it.
func files(t *testing.T, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// tidy checks that the database is intact and that no unneeded files exist. No process may have the
// database open.
func tidy(t *testing.T, path string) {
	t.Helper()
	if err := sound(path); err != nil {
		t.Error(err)
	}
	for _, name := range files(t, path) {
		suffix := strings.TrimPrefix(name, path)
		switch suffix {
		case "", logSuffix, "-head", "-turn", "-next", "-wal", "-shm":
			continue
		}
		digits, aside := strings.CutPrefix(suffix, segmentSuffix)
		if digits = strings.TrimSuffix(digits, fullSuffix); !aside || len(digits) != 20 || strings.Trim(digits, "0123456789") != "" {
			t.Errorf("%q is left", suffix)
		}
	}
}

// sound returns an error if the pages of the database are damaged. No process may have the database
// open.
func sound(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	verdict := ""
	err = db.QueryRow("PRAGMA integrity_check").Scan(&verdict)
	if err = errors.Join(err, db.Close()); err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	return err
}
