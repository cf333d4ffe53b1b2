package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// schema are the migrations, in the order of their names. One that was released never
// changes, and what an older process may still call stays, under its name.
//
//go:embed schema/*.sql
var schema embed.FS

// oldest is the first server version that has all that the schema needs.
const oldest = 130000

// migrate brings the schema up to date in one transaction. Of several processes that
// start at a time one does it, and the others wait for it.
func migrate(ctx context.Context, tx pgx.Tx, migrations fs.FS) error {
	files, err := fs.Glob(migrations, "schema/*.sql")
	if err != nil {
		return err
	}
	var server int
	if err := tx.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&server); err != nil {
		return err
	}
	if server < oldest {
		return fmt.Errorf("the server is PostgreSQL %d; it has to be %d or later", server/10000, oldest/10000)
	}
	at, err := version(ctx, tx)
	if err == nil && at < len(files) {
		at, err = lock(ctx, tx)
	}
	if err != nil {
		return err
	}
	if at > len(files) {
		return backend.Unusable(fmt.Errorf("its schema is version %d, of a newer petrigate; this one knows version %d: use the newer one, or another database", at, len(files)))
	}
	for n, name := range files[at:] {
		if err := apply(ctx, tx, migrations, name, at+n+1); err != nil {
			return fmt.Errorf("bringing the schema to version %d: %w", at+n+1, err)
		}
	}
	return nil
}

// lock waits until nobody else migrates, and returns the version then.
func lock(ctx context.Context, tx pgx.Tx) (int, error) {
	for _, s := range []string{
		`SET LOCAL lock_timeout = 0`, `SET LOCAL statement_timeout = 0`, `SELECT pg_advisory_xact_lock(8098989879002923007)`,
		`CREATE TABLE IF NOT EXISTS petrigate_schema (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())`,
	} {
		if _, err := tx.Exec(ctx, s); err != nil {
			return 0, err
		}
	}
	return version(ctx, tx)
}

// version is the version of the schema: 0 where there is none.
func version(ctx context.Context, tx pgx.Tx) (int, error) {
	var there bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass('petrigate_schema') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, err
	}
	var at int
	err := tx.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM petrigate_schema`).Scan(&at)
	return at, err
}

func apply(ctx context.Context, tx pgx.Tx, migrations fs.FS, name string, to int) error {
	text, err := fs.ReadFile(migrations, name)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO petrigate_schema (version) VALUES ($1)`, to)
	return err
}
