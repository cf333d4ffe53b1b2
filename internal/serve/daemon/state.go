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

// StatePath returns the path of the SQLite database. By default, this path is derived from the path
// of the configuration file. Proxies with the same configuration file then share a database.
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

// stateFile returns the path of a file in the state directory. The name of the file is derived from
// the path of the configuration file and ends in the given suffix.
func stateFile(c *config.Config, suffix string) (string, error) {
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
	return filepath.Join(dir, cmp.Or(name, "state")+"-"+hex.EncodeToString(sum[:4])+suffix), nil
}

// A database stores session states.
type database struct {
	*store.LateBackend
	driver string
	place  string // location to display, without secrets
}

// newDatabase returns the configured database without opening it, or nil if none is configured.
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
	case "memory", "":
		return nil, nil
	default:
		return nil, &InvalidError{fmt.Errorf("the daemon cannot open the state driver %q", c.Driver)}
	}
	db.LateBackend = store.NewLateBackend(open, log)
	return db, nil
}

// openTimeout limits how long to wait for the database to open.
const openTimeout = 10 * time.Second

// asBackend returns b as a [backend.Backend]. If err is not nil, it returns a nil interface rather
// than an interface that contains a nil pointer.
func asBackend[B backend.Backend](b B, err error) (backend.Backend, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}
