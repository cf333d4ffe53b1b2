package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// BenchmarkCommit commits steps of many sessions; the first goroutine commits for all. Each step
// replaces a state of 300 bytes and adds a record of 420.
func BenchmarkCommit(b *testing.B) {
	dsn := postgrestest.NewSchema(b)
	for _, kind := range []string{"reserve", "settle"} {
		for _, writers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", kind, writers), func(b *testing.B) {
				d := open(b, postgres.Options{DSN: dsn})
				g := &group{d: d, lead: make(chan struct{}, 1)}
				took := make([][]time.Duration, writers)
				var wait sync.WaitGroup
				b.ResetTimer()
				for w := range writers {
					wait.Go(func() {
						id := backend.PartID{Scope: backend.Session, Name: fmt.Sprint(d.Writer(), w)}
						for v := int64(0); int(v)*writers+w < b.N; v++ {
							op := &backend.Op{Reserve: kind == "reserve", Time: time.Now(),
								Writes: []backend.Write{{ID: id, Version: v, Data: []byte(strings.Repeat("s", 300))}},
								Events: []backend.Event{{Time: time.Now(), Session: id.Name, Object: []byte(strings.Repeat("r", 420))}}}
							began := time.Now()
							if err := g.commit(b, op); err != nil {
								b.Error(err)
								return
							}
							took[w] = append(took[w], time.Since(began))
						}
					})
				}
				wait.Wait()
				all := slices.Concat(took...)
				slices.Sort(all)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
				b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
			})
		}
	}
}

// group commits the waiting steps together, as a ledger does.
type group struct {
	d    *postgres.DB
	lead chan struct{}
	mu   sync.Mutex
	ops  []*backend.Op
	ends []chan error
}

func (g *group) commit(b *testing.B, op *backend.Op) error {
	end := make(chan error, 1)
	g.mu.Lock()
	g.ops, g.ends = append(g.ops, op), append(g.ends, end)
	g.mu.Unlock()
	select {
	case err := <-end:
		return err
	case g.lead <- struct{}{}:
	}
	g.mu.Lock()
	ops, ends := g.ops, g.ends
	g.ops, g.ends = nil, nil
	g.mu.Unlock()
	err := g.d.Commit(b.Context(), ops)
	for i, e := range ends {
		if err == nil {
			e <- ops[i].Err
		} else {
			e <- err
		}
	}
	<-g.lead
	return <-end
}
