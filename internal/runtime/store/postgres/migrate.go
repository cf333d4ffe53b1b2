package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/petrigate/petrigate/internal/runtime/store/migration"
)

//go:embed schema/*.sql
var files embed.FS

// What an older process may still call stays, under its name.
var schema = migration.Of(files)

// oldest is the first server version that has all that the schema needs.
const oldest = 130000

// migrate brings the schema up to date in one transaction. Of several processes that
// start at a time one does it, and the others wait for it.
func migrate(ctx context.Context, tx pgx.Tx) error {
	var server int
	if err := tx.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&server); err != nil {
		return err
	}
	if server < oldest {
		return fmt.Errorf("the server is PostgreSQL %d; it has to be %d or later", server/10000, oldest/10000)
	}
	at, err := version(ctx, tx)
	if err == nil && at < len(schema) {
		at, err = lock(ctx, tx)
	}
	if err == nil {
		err = schema.Check(at)
	}
	if err != nil {
		return err
	}
	return schema.Run(at, func(to int, sql string) error {
		_, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO petrigate_schema (version) VALUES ($1)`, to)
		}
		return err
	})
}

// lock waits until no other process migrates, and returns the version then. Its error is
// [tooSoon] if another process made the table meanwhile.
func lock(ctx context.Context, tx pgx.Tx) (int, error) {
	for _, s := range []string{
		`SET LOCAL lock_timeout = 0`, `SET LOCAL statement_timeout = 0`,
		`CREATE TABLE IF NOT EXISTS petrigate_schema (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())`,
		`LOCK TABLE petrigate_schema IN EXCLUSIVE MODE`,
	} {
		if _, err := tx.Exec(ctx, s); err != nil {
			return 0, err
		}
	}
	return version(ctx, tx)
}

// tooSoon reports whether a migration failed because another process was migrating too:
// CREATE TABLE IF NOT EXISTS fails if another transaction has just committed the table, or its
// row type (42710).
func tooSoon(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && slices.Contains([]string{"23505", "42P07", "42710", "40P01"}, p.Code)
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
