package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
)

// An AuditLog is an audit log opened for reading. The caller must close it.
type AuditLog struct {
	trail.Source
	Name  string // display name; contains no secrets
	Close func() error
}

// ErrNoAuditLog means that the configuration does not name an audit log.
var ErrNoAuditLog = errors.New("configures no audit log: name the log, or set audit.file")

// Elsewhere reports whether the audit records can be read only if the user trusts the
// configuration. This is the case if the records are in a PostgreSQL database, or in a file whose
// path contains an unexpanded variable.
func Elsewhere(c *config.Config) bool {
	variable := func(path string) bool { return c.TextOnly && strings.Contains(path, "${") }
	return c.State.Driver == "postgres" || variable(c.State.Path) || variable(c.Audit.File)
}

// errTextOnly returns an error if the configuration was read as plain text, because the user does
// not trust it; see [config.Config.TextOnly].
func errTextOnly(c *config.Config) error {
	if !c.TextOnly {
		return nil
	}
	return fmt.Errorf("%s was found in a directory and only read as text: nothing that it names is started or opened", c.File)
}

// RecordsOf opens the configured audit log.
func RecordsOf(ctx context.Context, c *config.Config) (*AuditLog, error) {
	switch {
	case Elsewhere(c) && c.TextOnly:
		return nil, errTextOnly(c)
	case c.State.Driver == "sqlite":
		return openStateLog(ctx, c)
	case c.State.Driver == "postgres":
		return openPostgres(ctx, c.State.DSN)
	case c.Audit.File != "":
		return OpenAuditLog(ctx, c.Audit.File)
	}
	return nil, fmt.Errorf("%s %w", c.File, ErrNoAuditLog)
}

// openStateLog opens the records in the configured database. If no proxy has created the database
// yet, it opens the audit file instead.
func openStateLog(ctx context.Context, c *config.Config) (*AuditLog, error) {
	path, err := StatePath(c)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return OpenAuditLog(ctx, path)
	case c.Audit.File != "":
		return OpenAuditLog(ctx, c.Audit.File)
	}
	return nil, fmt.Errorf("%s has no records yet: a proxy will write them to %s", c.File, path)
}

// OpenAuditLog opens the log with the given name, which is the path of a file, the path of an
// SQLite database, or the URL of a PostgreSQL database.
func OpenAuditLog(ctx context.Context, name string) (*AuditLog, error) {
	if strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://") {
		return openPostgres(ctx, name)
	}
	database, err := isSQLite(name)
	switch {
	case err != nil:
		return nil, err
	case !database:
		return &AuditLog{Source: trail.File(name), Name: name, Close: func() error { return nil }}, nil
	}
	b, err := journal.Open(ctx, journal.Options{Path: name})
	if err != nil {
		return nil, err
	}
	return &AuditLog{Source: trail.Database{Backend: b}, Name: name, Close: b.Close}, nil
}

func openPostgres(ctx context.Context, dsn string) (*AuditLog, error) {
	b, err := postgres.Open(ctx, postgres.Options{DSN: dsn})
	if err != nil {
		return nil, err
	}
	return &AuditLog{Source: trail.Database{Backend: b}, Name: "the database", Close: b.Close}, nil
}

// isSQLite reports whether the file is an SQLite database.
func isSQLite(name string) (bool, error) {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, errors.Join(err, fmt.Errorf("%s is not a file", name))
	}
	start := make([]byte, len(magic))
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return bytes.Equal(start[:n], []byte(magic)), err
}
