package postgres_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/backend/backendtest"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

func TestMain(m *testing.M) { leftover.Main(m) }

func open(t testing.TB, o postgres.Options) *postgres.DB {
	t.Helper()
	d, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestBackend(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) func() backend.Backend {
		dsn := postgrestest.NewSchema(t)
		return func() backend.Backend { return open(t, postgres.Options{DSN: dsn}) }
	})
}
