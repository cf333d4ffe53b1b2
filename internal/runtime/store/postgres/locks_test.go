package postgres_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// schemaOf returns the schema of a DSN of [postgrestest.NewSchema].
func schemaOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err)
	}
	return u.Query().Get("search_path")
}

// stranger connects to the database of dsn as a role with no other right.
func stranger(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	role := "stranger_" + strings.ToLower(rand.Text())
	postgrestest.Run(t, dsn, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA "+schemaOf(dsn)+" TO "+role)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "x")
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close(context.Background())
		postgrestest.Run(t, dsn, "DROP OWNED BY "+role+"; DROP ROLE "+role)
	})
	return conn
}

// TestRoleWithoutRights: a role that can only connect, and holds every advisory lock that petrigate has ever
// used, keeps no process from starting, deciding, stopping, or accepting tools. The role cannot
// take the locks that are used now.
func TestRoleWithoutRights(t *testing.T) {
	for _, lock := range []string{"pg_advisory_lock_shared", "pg_advisory_lock"} {
		t.Run(lock, func(t *testing.T) {
			dsn := postgrestest.NewSchema(t)
			o := postgres.Options{DSN: dsn, Timeout: 10 * time.Second}
			first := open(t, o)
			conn := stranger(t, dsn)
			var oids []int64
			rows, err := conn.Query(t.Context(), `SELECT oid::bigint FROM pg_class WHERE relnamespace = current_schema()::regnamespace`)
			if err == nil {
				oids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			}
			if err != nil || len(oids) < 10 {
				t.Fatal(oids, err)
			}
			const base = 8098989879002923008
			for _, key := range append(oids, -1) {
				if _, err := conn.Exec(t.Context(), "SELECT "+lock+"($1)", base+key); err != nil {
					t.Fatal(err)
				}
			}
			for _, sql := range []string{
				"LOCK TABLE petrigate_stop IN ROW SHARE MODE", "LOCK TABLE petrigate_pin IN ACCESS SHARE MODE",
				"SELECT 1 FROM petrigate_schema FOR SHARE", "SELECT petrigate_pin_turn()",
			} {
				err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
					_, err := tx.Exec(t.Context(), sql)
					return err
				})
				if err == nil || !strings.Contains(err.Error(), "permission denied") {
					t.Errorf("%s: %v", sql, err)
				}
			}

			second := open(t, o)
			commit(t, first, nil, step(true, 0, "1"))
			if err := second.SetStop(t.Context(), backend.Stop{Time: at, Actor: "me"}, true); err != nil {
				t.Fatal(err)
			}
			commit(t, first, backend.ErrStopped, step(true, 1, "2"))
			if err := second.SetStop(t.Context(), backend.Stop{Time: at, Actor: "me"}, false); err != nil {
				t.Fatal(err)
			}
			commit(t, first, nil, step(true, 1, "2"))
			if n, err := first.AddPins(t.Context(), []backend.Pin{{Server: "s", Tool: "a", Definition: []byte(`{}`), Since: at}}); n != 1 || err != nil {
				t.Error(n, err)
			}
		})
	}
}

// TestRoleWithoutRightsBeforeMigration: such a role cannot prevent the creation or migration of the tables either.
func TestRoleWithoutRightsBeforeMigration(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	conn := stranger(t, dsn)
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(8098989879002923007)`); err != nil {
		t.Fatal(err)
	}
	commit(t, open(t, postgres.Options{DSN: dsn, Timeout: time.Second}), nil, step(true, 0, "1"))
}

// TestNoAdvisoryLock: no function of the schema takes an advisory lock.
func TestNoAdvisoryLock(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	open(t, postgres.Options{DSN: dsn})
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	var name, body string
	if _, err := pgx.ForEachRow(rows, []any{&name, &body}, func() error {
		if n++; strings.Contains(body, "advisory") {
			t.Errorf("%s takes an advisory lock", name)
		}
		return nil
	}); err != nil || n < 3 {
		t.Error(n, err)
	}
}
