package postgres

import (
	"context"
	"embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/migration"
)

//go:embed schema/*.sql
var files embed.FS

// Migrations must not rename functions that older processes may still call.
var schema = migration.Load(files)

// minServerVersion is the first server version that supports the schema.
const minServerVersion = 130000

// migrate upgrades the schema to the newest version in one transaction. If several processes start
// at the same time, one of them migrates the schema and the others wait for it.
func migrate(ctx context.Context, tx pgx.Tx) error {
	var server int
	if err := tx.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&server); err != nil {
		return err
	}
	if server < minServerVersion {
		return fmt.Errorf("the server is PostgreSQL %d; petrigate requires %d or later", server/10000, minServerVersion/10000)
	}
	at, err := schemaVersion(ctx, tx)
	if err == nil && at < len(schema) {
		at, err = lockSchema(ctx, tx)
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

// lockSchema prevents other processes from migrating the schema, and returns the schema version. If
// another process is creating the version table, lockSchema returns an error that
// [concurrentMigration] recognizes.
func lockSchema(ctx context.Context, tx pgx.Tx) (int, error) {
	for _, s := range []string{
		`SET LOCAL lock_timeout = 0`, `SET LOCAL statement_timeout = 0`,
		`CREATE TABLE IF NOT EXISTS petrigate_schema (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())`,
		`LOCK TABLE petrigate_schema IN EXCLUSIVE MODE`,
	} {
		if _, err := tx.Exec(ctx, s); err != nil {
			return 0, err
		}
	}
	return schemaVersion(ctx, tx)
}

// concurrentMigration reports whether a migration failed because another process was migrating at
// the same time. For example, CREATE TABLE IF NOT EXISTS can fail if another transaction creates
// the same table concurrently.
func concurrentMigration(err error) bool {
	return slices.Contains([]string{"23505", "42P07", "42710", "40P01"}, sqlState(err))
}

// schemaVersion returns the schema version, or 0 if the schema does not exist.
func schemaVersion(ctx context.Context, tx pgx.Tx) (int, error) {
	var there bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass('petrigate_schema') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, err
	}
	var at int
	err := tx.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM petrigate_schema`).Scan(&at)
	return at, err
}
