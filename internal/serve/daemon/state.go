package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
)

// StatePath is the database of the driver sqlite: that of the configuration, or a place for
// this file, which all proxies with the same file share.
func StatePath(c *config.Config) (string, error) {
	if c.State.Path != "" {
		return c.State.Path, nil
	}
	if c.File == "" {
		return "", errors.New("without a configuration file, the driver sqlite requires state.path")
	}
	path, err := stateFile(c, ".db")
	if err != nil {
		return "", fmt.Errorf("%w, or state.path", err)
	}
	return path, nil
}

// stateFile is a place for a configuration's file of that kind, in the directory of state.
func stateFile(c *config.Config, kind string) (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(file))
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	return filepath.Join(dir, cmp.Or(name, "state")+"-"+hex.EncodeToString(sum[:4])+kind), nil
}

// A database is where the states of sessions are kept.
type database struct {
	*store.Late
	driver string
	place  string // for people, without secrets
}

// openState opens the database of the configuration; nil: it has none. A database that is
// away is no error: it is opened when it is there. What no waiting mends is one.
func (d *Daemon) openState() (*database, error) {
	db, err := newDatabase(d.config, d.log)
	if db == nil || err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	if err := db.Try(ctx); errors.Is(err, backend.ErrUnusable) {
		return nil, &InvalidError{err}
	}
	return db, nil
}

// newDatabase is the database of a configuration, which is not open yet; nil: it has none.
func newDatabase(config *config.Config, log *slog.Logger) (*database, error) {
	c := config.State
	db := &database{driver: c.Driver}
	var open func(context.Context) (backend.Backend, error)
	switch c.Driver {
	case "sqlite":
		path, err := StatePath(config)
		if err != nil {
			return nil, &InvalidError{err}
		}
		db.place = path
		open = func(ctx context.Context) (backend.Backend, error) {
			return asBackend(journal.Open(ctx, journal.Options{Path: path, Sync: c.Sync, Logger: log}))
		}
	case "postgres":
		place, err := postgres.Describe(c.DSN)
		if err != nil {
			return nil, &InvalidError{err}
		}
		db.place = place
		open = func(ctx context.Context) (backend.Backend, error) {
			return asBackend(postgres.Open(ctx, postgres.Options{DSN: c.DSN, NoSync: c.Sync == "normal"}))
		}
	default:
		return nil, nil
	}
	db.Late = store.NewLate(open, log)
	return db, nil
}

// openTimeout is how long a start waits for a database.
const openTimeout = 10 * time.Second

// asBackend keeps a nil of a backend from becoming one that is not.
func asBackend[B backend.Backend](b B, err error) (backend.Backend, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}
