package postgres_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestErrorsHidePassword: no error contains the password, whatever is wrong with the DSN.
func TestErrorsHidePassword(t *testing.T) {
	const password = "s3cr3t-Pass"
	for _, dsn := range []string{
		"postgres://u:" + password + "@127.0.0.1:1/db?sslmode=disable",
		"postgres://u:" + password + "@127.0.0.1:1/db?sslmode=" + password,
		"postgres://u:" + password + "@127.0.0.1:port/db",
		"postgres://u:" + password + "%zz@h/db",
		"postgres://u:p@" + password + "@[::1/db",
		"host=127.0.0.1 port=1 password=" + password + " sslmode=wrong",
		"host=127.0.0.1 port=1 user=u dbname=d sslmode=disable password='" + password + "'",
		"host=127.0.0.1 port=x password='" + password,
		"password " + password,
		password,
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Timeout: 100 * time.Millisecond})
		if err == nil {
			t.Errorf("%s was opened", dsn)
		} else if text := err.Error(); strings.Contains(text, password) || strings.Contains(text, password[3:]) {
			t.Errorf("%s: the error has the password: %s", dsn, text)
		} else {
			t.Log(text)
		}
	}
}

// TestConcurrentMigrations: many processes that start at the same time on an empty database create one schema.
func TestConcurrentMigrations(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			d, err := postgres.Open(context.Background(), postgres.Options{DSN: dsn})
			if err != nil {
				t.Error(err)
				return
			}
			d.Close()
		})
	}
	wait.Wait()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `INSERT INTO petrigate_writer (name, seen, seq) VALUES ('killed', now() - interval '8 days', 0), ('recorded', now() - interval '8 days', 1)`); err != nil {
		t.Fatal(err)
	}
	open(t, postgres.Options{DSN: dsn})
	var versions, writers int
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM petrigate_schema), (SELECT count(*) FROM petrigate_writer)`).Scan(&versions, &writers); err != nil || versions != 3 || writers != 2 {
		t.Fatal(versions, writers, err)
	}

	// A schema of a newer petrigate is left alone.
	if _, err := conn.Exec(t.Context(), `INSERT INTO petrigate_schema (version) VALUES (7)`); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if want := "a newer petrigate wrote it (schema 7; this one supports 3): run the newer one"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestSchemaUpgrade: a database of the previous version keeps its contents, and accepts pins.
func TestSchemaUpgrade(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	first, err := os.ReadFile("schema/0001_first.sql")
	if err != nil {
		t.Fatal(err)
	}
	postgrestest.Run(t, dsn, `CREATE TABLE petrigate_schema (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now());
		INSERT INTO petrigate_schema (version) VALUES (1);`+string(first)+`;
		INSERT INTO petrigate_stop VALUES ('', 'ann', 'why', now())`)
	d := open(t, postgres.Options{DSN: dsn})
	if stops, err := d.Stops(t.Context()); err != nil || len(stops) != 1 || stops[0].Actor != "ann" {
		t.Errorf("%+v, %v", stops, err)
	}
	pin := backend.Pin{Server: "s", Tool: "a\x00", Definition: []byte(`{}`), Since: at, By: "ann"}
	for i, want := range []int{1, 0} {
		if n, err := d.AddPins(t.Context(), []backend.Pin{pin}); err != nil || n != want {
			t.Errorf("%d: %d pins were added, want %d; %v", i, n, want, err)
		}
	}
	pins, total, err := d.Pins(t.Context(), 0)
	if err != nil || total != 1 || len(pins) != 1 || pins[0].Tool != pin.Tool || !pins[0].Since.Equal(at) {
		t.Errorf("%+v, %d, %v", pins, total, err)
	}
	if pins, total, err := d.Pins(t.Context(), pins[0].Number); err != nil || total != 1 || len(pins) != 0 {
		t.Errorf("%+v, %d, %v", pins, total, err)
	}
}
