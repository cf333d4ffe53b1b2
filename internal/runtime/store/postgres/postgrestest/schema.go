// Package postgrestest gives tests a real PostgreSQL: schemas of one that runs, a server of
// their own that they may stop, and a proxy in front of it that breaks connections.
package postgrestest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Variable names the DSN of the server that tests may use.
const Variable = "PETRIGATE_TEST_POSTGRES"

// Schema returns a DSN for an empty schema of the server, which is dropped when the test
// ends. The test is skipped where there is no server.
func Schema(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(Variable)
	if dsn == "" {
		t.Skipf("%s is not set: it is the DSN of a PostgreSQL in which tests may make schemas", Variable)
	}
	return SchemaOf(t, dsn)
}

// SchemaOf is [Schema] on the server that the DSN names.
func SchemaOf(t testing.TB, dsn string) string {
	t.Helper()
	name := "petrigate_test_" + strings.ToLower(rand.Text())
	Run(t, dsn, "CREATE SCHEMA "+name)
	t.Cleanup(func() { Run(t, dsn, "DROP SCHEMA "+name+" CASCADE") })
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal("the DSN of the tests cannot be read")
	}
	return format(c, c.Host, c.Port, name)
}

// format is the URL of what c connects to, at another host and with a search_path.
func format(c *pgx.ConnConfig, host string, port uint16, schema string) string {
	q := url.Values{"host": {host}, "port": {fmt.Sprint(port)}}
	if c.TLSConfig == nil {
		q.Set("sslmode", "disable")
	}
	if schema == "" {
		schema = c.RuntimeParams["search_path"]
	}
	if schema != "" {
		q.Set("search_path", schema)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(c.User, c.Password), Path: "/" + c.Database, RawQuery: q.Encode()}
	return u.String()
}

// Run runs statements on a connection of their own.
func Run(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err == nil {
		_, err = conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		_ = conn.Close(ctx)
	}
	if err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}
