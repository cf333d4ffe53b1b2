//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver" // registers the driver
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
	"github.com/petrigate/petrigate/internal/soak"
)

// A blackout is the result of a power loss at a random write.
type blackout struct {
	committed [2]int // numbers of committed reservations and outcomes
	missing   [2]int // numbers of these that are missing afterwards
	old       int    // number of records converted from an older schema
	err       error  // problem with the remaining state, if any
}

// A machineKind is a kind of machine: the settings of the store and the behavior of its disks.
type machineKind struct {
	name    string
	sync    string
	lies    bool // the disks ignore syncs of files
	forgets bool // the disk of the log ignores syncs of directories
	loses   bool // reservations may be lost
	breaks  bool // the state might not open
}

// TestPower cuts the power of the disks of the log and of the database at random writes of calls
// that reserve and settle, and checks the remaining state. PETRIGATE_SOAK sets the number of runs.
// Some stores do not sync correctly, to show that the test can detect this.
func TestPower(t *testing.T) {
	t.Parallel()
	seed, times := soak.Range(t, 12)
	for _, k := range []machineKind{
		{name: "full", sync: Full},
		{name: "always", sync: Always},
		{name: "normal", sync: Normal, loses: true},
		{name: "a disk that lies", sync: Full, lies: true, loses: true, breaks: true},
		{name: "a disk that forgets names", sync: Full, forgets: true, loses: true, breaks: true},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			var sum blackout
			bad := 0
			times := times
			if k.loses {
				times = max(15, times/3) // enough runs to detect the loss
			}
			for i := range uint64(times) {
				random := rand.New(rand.NewPCG(seed, i))
				got := k.cut(t, random)
				if got.err != nil {
					if bad++; !k.breaks {
						t.Errorf("seed %d, cut %d: %v", seed, i, got.err)
					}
				}
				if got.missing[0] > 0 && !k.loses {
					t.Errorf("seed %d, cut %d: %d reservations of %d are lost", seed, i, got.missing[0], got.committed[0])
				}
				for n := range sum.missing {
					sum.committed[n] += got.committed[n]
					sum.missing[n] += got.missing[n]
				}
			}
			t.Logf("seed %d: %d cuts, %d reservations and %d outcomes committed, %d and %d of them lost, %d states bad",
				seed, times, sum.committed[0], sum.committed[1], sum.missing[0], sum.missing[1], bad)
			if k.loses && sum.missing[0]+bad == 0 {
				t.Error("a store that does not sync was not found out")
			}
			if !k.lies && sum.missing[1] == 0 && times >= 60 {
				t.Error("no outcome was ever lost: the power went too late")
			}
		})
	}
}

// cut makes calls in one or two processes, which also end and start again, until the power fails.
func (k *machineKind) cut(t *testing.T, random *rand.Rand) (c blackout) {
	path := place(t)
	if random.IntN(3) == 0 {
		unpack(t, 3, path)
		c.old = 3
	}
	own := rand.New(rand.NewPCG(random.Uint64(), 0)) // a source of its own, because other goroutines also use the disks
	p := &power{random: own, left: 1 + random.IntN([]int{40, 400, 400}[random.IntN(3)]), lies: k.lies, forgets: k.forgets}
	if k.loses {
		p.left += 100 // run longer, so that there is data to lose
	}
	database := newDatabaseDisk(p)
	defer database.close()
	system := "disk-" + strings.ReplaceAll(k.name, " ", "-") // the names of file systems are global
	vfs.Register(system, database)
	defer vfs.Unregister(system)
	o := Options{Path: path, Sync: k.sync, segment: []int64{0, 2000, 9000}[random.IntN(3)], disk: newLogDisk(p, path)}
	o.dial = func(o *sqlite.Options) { o.Driver, o.System = "sqlite3", system }
	err := c.run(random, o)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.off || p.err != nil {
		c.err = fmt.Errorf("it failed before the power did: %w, %w", err, p.err)
		return c
	}
	_ = os.Remove(path + "-shm") // SQLite keeps this file only in memory
	c.after(t, Options{Path: path})
	return c
}

func (c *blackout) run(random *rand.Rand, o Options) error {
	all := make([]*Backend, 1+random.IntN(2))
	defer func() {
		for _, b := range all {
			if b != nil {
				_ = b.Close()
			}
		}
	}()
	folds := 2 + random.IntN(30)
	for n := 0; ; n++ {
		i := random.IntN(len(all))
		var err error
		switch b := all[i]; {
		case b == nil:
			all[i], err = Open(context.Background(), o)
		case random.IntN(40) == 0:
			all[i], err = nil, b.Close()
		case random.IntN(folds) == 0:
			if err = b.fold(); err == nil {
				_, err = b.RemoveRecords(context.Background(), "nobody", 1, 1)
			}
		default:
			kind := n % 2
			if err = pay(b, kind, c.committed[kind]); err == nil {
				c.committed[kind]++
			}
		}
		if err != nil {
			return err
		}
	}
}

// kinds contains the parts that the function pay increments: one counts reservations, the other
// outcomes.
var kinds = [2]backend.PartID{{Scope: backend.Global, Name: "reserved"}, {Scope: backend.Global, Name: "settled"}}

// pay commits a step that increments a part, whose version is n, and has a record that fills
// several sectors.
func pay(b *Backend, kind, n int) error {
	object := append(strconv.AppendInt(append(strconv.AppendInt([]byte(`{"kind":`), int64(kind), 10), `,"n":`...), int64(n), 10), `,"x":`...)
	object = append(append(object, filled(700)...), '}')
	op := &backend.Op{Reserve: kind == 0, Lasts: true,
		Writes: []backend.Write{{ID: kinds[kind], Version: int64(n), Data: []byte("{}")}},
		Events: []backend.Event{{Object: object}},
	}
	return commit(context.Background(), b, op)
}

// after opens the state after the power loss and checks it.
func (c *blackout) after(t *testing.T, o Options) {
	b, err := Open(t.Context(), o)
	if err != nil {
		c.err = err
		return
	}
	defer b.Close()
	parts, err := b.Load(t.Context(), kinds[:]...)
	if err != nil {
		c.err = err
		return
	}
	for kind, p := range parts {
		c.missing[kind] = max(0, c.committed[kind]-int(p.Version))
	}
	if c.err = c.chained(b, parts); c.err != nil {
		return
	}
	if c.err = pay(b, 0, int(parts[0].Version)); c.err != nil {
		return
	}
	if parts, c.err = b.Load(t.Context(), kinds[:]...); c.err == nil {
		c.err = errors.Join(c.chained(b, parts), b.Close(), sound(o.Path))
	}
}

// chained checks that the records form complete chains, and that each step of the parts has a
// record.
func (c *blackout) chained(b *Backend, parts []backend.Part) error {
	last, n, old := map[string]backend.Record{}, [2]int64{}, 0
	for r, err := range b.Records(context.Background(), backend.Query{}) {
		if err != nil {
			return err
		}
		before := last[r.Writer]
		if r.Seq != before.Seq+1 || r.Hash != audit.Link(before.Hash, r.Seq, r.Object) {
			return fmt.Errorf("record %d of %s is not the next of its chain", r.Seq, r.Writer)
		}
		last[r.Writer] = r
		if r.Writer == "first" {
			old++
			continue
		}
		n[r.Object[len(`{"kind":`)]-'0']++
	}
	if old != c.old {
		return fmt.Errorf("%d records were taken over, want %d", old, c.old)
	}
	for kind, p := range parts {
		if p.Version != n[kind] {
			return fmt.Errorf("%d records of %d steps", n[kind], p.Version)
		}
	}
	return nil
}
