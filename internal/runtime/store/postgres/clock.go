package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Clock connects to a database and returns the server's time. It does not change the database.
func Clock(ctx context.Context, dsn string) (now time.Time, err error) {
	c, err := parse(Options{DSN: dsn, Timeout: 5 * time.Second})
	if err != nil {
		return now, err
	}
	conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	if err != nil {
		return now, explain(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now, err
}
