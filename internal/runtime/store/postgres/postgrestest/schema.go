// Package postgrestest provides real PostgreSQL databases for tests: schemas on a running server,
// servers that a test can stop, and a proxy that breaks connections.
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

// Variable is the name of the environment variable that contains the DSN of the server for tests.
const Variable = "PETRIGATE_TEST_POSTGRES"

// NewSchema creates an empty schema on the server and returns a DSN for it. The schema is dropped
// when the test ends. The test is skipped if no server is configured.
func NewSchema(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(Variable)
	if dsn == "" {
		t.Skipf("%s is not set: it is the DSN of a PostgreSQL server where tests can create schemas", Variable)
	}
	return newSchemaOn(t, dsn)
}

// newSchemaOn is like [NewSchema], but for the server with the given DSN.
func newSchemaOn(t testing.TB, dsn string) string {
	t.Helper()
	name := "petrigate_test_" + strings.ToLower(rand.Text())
	Run(t, dsn, "CREATE SCHEMA "+name)
	t.Cleanup(func() { Run(t, dsn, "DROP SCHEMA "+name+" CASCADE") })
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal("the tests' DSN is invalid")
	}
	return format(c, c.Host, c.Port, name)
}

// format returns a URL with the given host, port and schema, and with the user, password and
// database in c. If schema is empty, the schema is also taken from c. The URL disables TLS if c
// does not use TLS.
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

// Run runs statements on a new connection.
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
