package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestReplacedPinWakes: a replaced pin wakes other processes.
func TestReplacedPinWakes(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	one, other := open(t, postgres.Options{DSN: dsn}), open(t, postgres.Options{DSN: dsn, Poll: time.Hour})
	<-other.Changes() // wait until the listener is connected
	if err := one.PutPin(t.Context(), backend.Pin{Server: "s", Tool: "a", Definition: []byte(`{}`), Since: at}); err != nil {
		t.Fatal(err)
	}
	<-other.Changes()
}

// TestPinNumbersIncrease: a process that writes pins waits until another process has committed its pins, so
// that no pin gets a lower number than one that was already read.
func TestPinNumbersIncrease(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	d := open(t, postgres.Options{DSN: dsn})
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT petrigate_pin_turn()`); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `INSERT INTO petrigate_pin (server, tool, definition, since, actor) VALUES ('s', 'first', '{}', now(), '')`); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := d.AddPins(t.Context(), []backend.Pin{{Server: "s", Tool: "second", Definition: []byte(`{}`), Since: at}})
		written <- err
	}()
	for waits := false; !waits; {
		if err := tx.QueryRow(t.Context(), `SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'relation' AND NOT granted
			AND relation = 'petrigate_pin'::regclass`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-written:
			t.Fatal("it did not wait:", err)
		default:
		}
	}
	if pins, total, err := d.Pins(t.Context(), 0); len(pins) != 0 || total != 0 || err != nil {
		t.Errorf("%+v, %d, %v", pins, total, err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	pins, total, err := d.Pins(t.Context(), 0)
	if err != nil || total != 2 || len(pins) != 2 || pins[0].Tool != "first" || pins[1].Tool != "second" {
		t.Errorf("%+v, %d, %v", pins, total, err)
	}
}
