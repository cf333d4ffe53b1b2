package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/serve/store/postgres"
	"github.com/petrigate/petrigate/internal/serve/store/postgres/postgrestest"
)

// TestSecrets: no error has the password in it, whatever is wrong with the DSN.
func TestSecrets(t *testing.T) {
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

// TestTogether: many processes that start at a time on an empty database make one schema.
func TestTogether(t *testing.T) {
	dsn := postgrestest.Schema(t)
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
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM petrigate_schema), (SELECT count(*) FROM petrigate_writer)`).Scan(&versions, &writers); err != nil || versions != 1 || writers != 2 {
		t.Fatal(versions, writers, err)
	}

	// A schema of a newer petrigate is left alone.
	if _, err := conn.Exec(t.Context(), `INSERT INTO petrigate_schema (version) VALUES (7)`); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if want := "a newer petrigate wrote it (schema 7; this one knows 1): run that one"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
