package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestPlansForLargeTables: the cached plans of a process that has started on an empty database do not read whole
// tables when the database is large.
func TestPlansForLargeTables(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	d := open(t, postgres.Options{DSN: dsn + "&pool_max_conns=1", Poll: time.Hour})
	round := func(first int) {
		var ops []*backend.Op
		for n := range 20 {
			id := backend.PartID{Scope: backend.Session, Name: fmt.Sprint(first + n)}
			p, err := d.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			ops = append(ops, &backend.Op{Reserve: n%2 == 0, Time: at, Writes: []backend.Write{{
				ID: id, Version: p[0].Version, Data: []byte("{}"), Values: map[string][]byte{"k": []byte("{}")}}},
				Events: []backend.Event{{Time: at, Object: []byte("{}")}}})
		}
		for range 8 { // a plan is cached after five executions
			if err := d.Commit(t.Context(), ops); err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				if op.Err != nil {
					t.Fatal(op.Err)
				}
				op.Writes[0].Version++
			}
		}
	}
	round(0)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `INSERT INTO petrigate_part (scope, name, version, data, changed)
		SELECT 'session', convert_to('more' || n, 'UTF8'), 1, '{}', now() FROM generate_series(1, 20000) n`); err != nil {
		t.Fatal(err)
	}
	round(1000)
	d.Close() // closing the connection writes its statistics
	var read, found int
	for began := time.Now(); found == 0 && time.Since(began) < 10*time.Second; {
		err := conn.QueryRow(t.Context(), `SELECT sum(seq_tup_read), sum(idx_scan) FROM pg_stat_user_tables
			WHERE schemaname = current_schema() AND relname IN ('petrigate_part', 'petrigate_value', 'petrigate_record')`).Scan(&read, &found)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond)
	}
	if read > 0 || found == 0 {
		t.Errorf("%d rows were read without an index, and %d times one was used", read, found)
	}
}
