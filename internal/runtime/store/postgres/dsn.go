package postgres

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// maxConnections is the maximum number of connections per process, not counting the listener's
// connection. The DSN parameter pool_max_conns overrides it.
const maxConnections = 6

// planSettings makes PostgreSQL use indexes. Otherwise, a plan made while a table is small would
// scan the whole table, and connections would keep using this plan after the table has grown.
const planSettings = `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan`

// parse parses the DSN. Its errors do not quote the DSN, which may contain a password; in a
// malformed DSN any part could be the password.
func parse(o Options) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, fmt.Errorf("the PostgreSQL DSN is invalid%s; write postgres://USER@HOST:5432/DATABASE?sslmode=verify-full or host=HOST user=USER dbname=DATABASE", hint(o.DSN, err))
	}
	if !strings.Contains(o.DSN, "pool_max_conns") {
		c.MaxConns = maxConnections
	}
	// Do not ping connections before use: a ping costs a round trip, and the statement itself
	// detects a dead connection.
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	c.ConnConfig.ConnectTimeout = min(o.Timeout, max(c.ConnConfig.ConnectTimeout, time.Second))
	limits := fmt.Sprintf(`SET lock_timeout = %d; SET statement_timeout = %d; SET idle_in_transaction_session_timeout = %d;
		SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning; `+planSettings,
		o.Timeout.Milliseconds()*6/10, o.Timeout.Milliseconds()*8/10, o.Timeout.Milliseconds()*2)
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, limits, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	return c, nil
}

// hint returns, in parentheses, the name of the invalid DSN option that err mentions. It returns ""
// if the option cannot be determined. The full text of err may contain the password.
func hint(dsn string, err error) string {
	for _, option := range []string{"sslmode", "sslrootcert", "sslcert", "sslkey", "port", "connect_timeout", "target_session_attrs", "pool_max_conns", "pool_min_conns", "default_query_exec_mode", "min_protocol_version"} {
		if u, bad := url.Parse(dsn); bad == nil && u.Query().Has(option) || strings.Contains(dsn, option+"=") {
			if strings.Contains(err.Error(), option+" ") || strings.Contains(err.Error(), "invalid "+option) {
				return " (" + option + ")"
			}
		}
	}
	return ""
}

// describe returns a description of the configured database, without secrets.
func describe(c *pgx.ConnConfig) string {
	at := c.Host
	if !strings.HasPrefix(at, "/") {
		at = net.JoinHostPort(at, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("the PostgreSQL database %q at %s", c.Database, at)
}

// Describe returns a description of the database with the given DSN, for use in messages. It
// contains no secrets.
func Describe(dsn string) (string, error) {
	c, err := parse(Options{DSN: dsn, Timeout: time.Second})
	if err != nil {
		return "", err
	}
	return describe(c.ConnConfig), nil
}
