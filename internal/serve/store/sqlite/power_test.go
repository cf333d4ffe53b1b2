package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // registers itself
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// A cut is a database whose power goes at a random write.
type cut struct {
	acknowledged [2]int // reservations, outcomes: how many were committed
	missing      [2]int // of them afterwards
	err          error  // what is wrong with the database
}

// TestPower cuts the power at random writes of calls that reserve and settle, and looks at
// what is left, by the program as it is. PETRIGATE_SOAK is how often.
//
// That the test can tell a store that syncs from one that does not is shown by stores that
// do not.
func TestPower(t *testing.T) {
	seed, times := soak.Range(t, 25)
	for _, c := range []struct {
		name     string
		sync     string
		off      bool // the database does not sync
		lies     bool // the disk does not
		loses    bool // reservations
		corrupts bool // perhaps
	}{
		{name: "full", sync: Full},
		{name: "normal", sync: Normal, loses: true},
		{name: "synchronous off", sync: Full, off: true, loses: true, corrupts: true},
		{name: "a disk that lies", sync: Full, lies: true, loses: true, corrupts: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sum cut
			bad := 0
			for i := range uint64(times) {
				random := rand.New(rand.NewPCG(seed, i))
				got := cutAt(t, random, Options{Path: place(t), Sync: c.sync}, c.off, c.lies)
				if got.err != nil {
					if bad++; !c.corrupts {
						t.Errorf("seed %d, cut %d: %v", seed, i, got.err)
					}
				}
				if got.missing[0] > 0 && !c.loses {
					t.Errorf("seed %d, cut %d: %d reservations of %d are lost", seed, i, got.missing[0], got.acknowledged[0])
				}
				for k := range sum.missing {
					sum.acknowledged[k] += got.acknowledged[k]
					sum.missing[k] += got.missing[k]
				}
			}
			t.Logf("seed %d: %d cuts, %d reservations and %d outcomes committed, %d and %d of them lost, %d files bad",
				seed, times, sum.acknowledged[0], sum.acknowledged[1], sum.missing[0], sum.missing[1], bad)
			if c.loses && sum.missing[0]+bad == 0 {
				t.Error("a store that does not sync was not found out")
			}
			if !c.lies && !c.off && sum.missing[1] == 0 && times >= 20 {
				t.Error("no outcome was ever lost: the power went too late")
			}
		})
	}
}

// cutAt runs calls until the power goes.
func cutAt(t *testing.T, random *rand.Rand, o Options, off, lies bool) (c cut) {
	d := newDisk(random, 1+random.IntN(400))
	d.lies = lies
	defer d.close()
	o.dialer = dialer{"sqlite3", "disk"}
	vfs.Register(o.dialer.system, d)
	defer vfs.Unregister(o.dialer.system)
	o.Writer = "w"
	b, err := Open(context.Background(), o)
	if err == nil {
		// Often, so that the power goes while the log is brought into the file.
		err = b.scribe.link.run("PRAGMA wal_autocheckpoint = " + strconv.Itoa(5+random.IntN(40)))
		if off {
			err = errors.Join(err, b.scribe.link.run("PRAGMA synchronous = OFF"))
		}
		for n := 0; err == nil; n++ {
			kind := n % 2
			if off {
				kind = 0 // the scribe would set it to what a batch needs
			}
			if n%16 == 7 {
				b.scribe.proof.written = time.Now().Add(-witnessEvery) // a witness is due
			}
			if err = pay(b, kind, c.acknowledged[kind]); err == nil {
				c.acknowledged[kind]++
			}
		}
		_ = b.Close()
	}
	if !d.off {
		c.err = fmt.Errorf("it failed before the power did: %w", err)
		return c
	}
	_ = os.Remove(o.Path + "-shm") // is in memory
	o.dialer = dialer{}
	c.after(t, o)
	return c
}

// kinds are the parts that pay counts.
var kinds = [2]backend.PartID{{Scope: backend.Global, Name: "reserved"}, {Scope: backend.Global, Name: "settled"}}

// pay counts one more call, with a record that fills some pages.
func pay(b *Backend, kind, n int) error {
	object := append(strconv.AppendInt(append(strconv.AppendInt([]byte(`{"kind":`), int64(kind), 10), `,"n":`...), int64(n), 10), `,"x":`...)
	object = append(append(object, filled(700)...), '}')
	op := &backend.Op{Reserve: kind == 0,
		Writes: []backend.Write{{ID: kinds[kind], Version: int64(n), Data: []byte("{}")}},
		Events: []backend.Event{{Object: object}},
	}
	err := b.Commit(context.Background(), []*backend.Op{op})
	return errors.Join(err, op.Err)
}

// after looks at what is left.
func (c *cut) after(t *testing.T, o Options) {
	o.Writer = ""
	b, err := Open(t.Context(), o)
	if err != nil {
		c.err = err
		return
	}
	defer b.Close()
	verdict := ""
	if _, err := b.scribe.link.row("PRAGMA integrity_check", nil, &verdict); err != nil || verdict != "ok" {
		c.err = fmt.Errorf("%s, %w", verdict, err)
		return
	}
	parts, err := b.Load(t.Context(), kinds[:]...)
	if err != nil {
		c.err = err
		return
	}
	for kind, p := range parts {
		c.missing[kind] = max(0, c.acknowledged[kind]-int(p.Version))
	}
	n, last := int64(0), [32]byte{}
	for r, err := range b.Records(t.Context(), backend.Query{Writer: "w"}) {
		if err != nil {
			c.err = err
			return
		}
		n++
		if last = audit.Link(last, uint64(n), r.Object); r.Seq != uint64(n) || r.Hash != last {
			c.err = fmt.Errorf("record %d is not the next of its chain", r.Seq)
			return
		}
	}
	if n != parts[0].Version+parts[1].Version {
		c.err = fmt.Errorf("%d records of %d steps", n, parts[0].Version+parts[1].Version)
		return
	}
	c.err = pay(b, 0, int(parts[0].Version))
}
