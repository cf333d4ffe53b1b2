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
	"github.com/petrigate/petrigate/internal/serve/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/store/postgres"
	"github.com/petrigate/petrigate/internal/serve/store/sqlite"
)

// An AuditLog is the log that a verb reads. The caller must close it.
type AuditLog struct {
	trail.Source
	Name  string // for a reader, without secrets
	Close func() error
}

// ErrNoAuditLog is the error of a configuration that keeps no records.
var ErrNoAuditLog = errors.New("keeps no records that are known here: name the log, or set audit.file")

// OpenAuditLog opens the log that is named: a file, a database of sqlite, or the URL of one of
// PostgreSQL; unnamed, the one of the configuration.
func OpenAuditLog(ctx context.Context, name, configFile string) (*AuditLog, error) {
	if name != "" {
		return openNamed(ctx, name)
	}
	c, err := config.Load(config.Options{Path: configFile, WorkDir: true, Fetch: Kept, Partial: true})
	if errors.Is(err, config.ErrNotFound) {
		err = fmt.Errorf("%w; or name the log", err)
	}
	switch {
	case err != nil:
		return nil, err
	case c.State.Driver == "sqlite":
		return openState(ctx, c)
	case c.State.Driver == "postgres":
		return openPostgres(ctx, c.State.DSN)
	case c.Audit.File != "":
		return openNamed(ctx, c.Audit.File)
	}
	return nil, fmt.Errorf("%s %w", c.File, ErrNoAuditLog)
}

// openState opens the database of a configuration, or the file beside it where no proxy has
// made the database yet.
func openState(ctx context.Context, c *config.Config) (*AuditLog, error) {
	path, err := StatePath(c)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return openNamed(ctx, path)
	case c.Audit.File != "":
		return openNamed(ctx, c.Audit.File)
	}
	return nil, fmt.Errorf("%s has no records yet: they will be in %s once a proxy has started", c.File, path)
}

func openNamed(ctx context.Context, name string) (*AuditLog, error) {
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
	b, err := sqlite.Open(ctx, sqlite.Options{Path: name})
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

// isSQLite reports whether the file is a database of SQLite.
func isSQLite(name string) (bool, error) {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, errors.Join(err, fmt.Errorf("%s is no file", name))
	}
	start := make([]byte, len(magic))
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return bytes.Equal(start[:n], []byte(magic)), err
}
