package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestConcurrentLoadsShareTrip: loads that wait while another load is in progress share a round trip,
// and each gets its own parts. A caller that gives up does not delay the others.
func TestConcurrentLoadsShareTrip(t *testing.T) {
	const n = 20
	dsn := postgrestest.NewSchema(t)
	proxy := postgrestest.NewProxy(t, dsn)
	d := open(t, postgres.Options{DSN: proxy.DSN() + "&pool_max_conns=1", Timeout: time.Minute, Poll: time.Hour})
	<-d.Changes() // wait until the listener is connected
	ids := make([]backend.PartID, n)
	for i := range ids {
		ids[i] = backend.PartID{Scope: backend.Session, Name: fmt.Sprint(i)}
		commit(t, d, nil, &backend.Op{Time: at, Writes: []backend.Write{{ID: ids[i], Data: fmt.Append(nil, i)}}})
	}
	if _, err := d.Load(t.Context(), ids[0]); err != nil { // prepares the statement
		t.Fatal(err)
	}

	unlock := lockTable(t, dsn, "petrigate_part")
	before := proxy.Trips()
	var wait sync.WaitGroup
	load := func(ctx context.Context, want error, at ...int) {
		wait.Go(func() {
			some := make([]backend.PartID, len(at))
			for i, n := range at {
				some[i] = ids[n]
			}
			parts, err := d.Load(ctx, some...)
			if !errors.Is(err, want) || err == nil && len(parts) != len(at) {
				t.Errorf("%d parts, %v, want %d, %v", len(parts), err, len(at), want)
				return
			}
			for i, p := range parts {
				if p.ID != some[i] || string(p.Data) != fmt.Sprint(at[i]) {
					t.Errorf("%+v for %+v", p, some[i])
				}
			}
		})
	}
	load(t.Context(), nil, 0)
	for proxy.Trips() == before {
		runtime.Gosched()
	}
	ctx, cancel := context.WithCancel(t.Context())
	load(ctx, context.Canceled, 1)
	for i := range n - 1 {
		load(t.Context(), nil, i+1, i)
	}
	for d.Waiting() < n {
		runtime.Gosched()
	}
	cancel()
	unlock()
	wait.Wait()
	if trips := proxy.Trips() - before; trips != 2 {
		t.Errorf("%d round trips for one load and %d that waited for it", trips, n)
	}
}

// lockTable locks a table exclusively until the returned function is called.
func lockTable(t *testing.T, dsn, table string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE `+table+` IN ACCESS EXCLUSIVE MODE`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(context.Background()); err != nil { // rolls back
			t.Error(err)
		}
	}
}
