package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Options say where the database is.
type Options struct {
	Path   string       // absolute
	Logger *slog.Logger // nil: nothing is logged
	Export Export       // nil: records of older schemas are dropped

	// Tests have disks whose power goes.
	Driver, System string // of database/sql, and its file system; empty: the usual one
}

// An Export writes the records of a database of an older schema, which had them in a table, to
// segments of the log. It may be called again for the same records, after a crash.
type Export func(total int64, records iter.Seq2[backend.Record, error]) ([]Segment, error)

// A Checkpoint is an open database. It is safe for concurrent use.
type Checkpoint struct {
	writer  connection
	reader  reader
	changes changes
}

// Open opens the database, and makes it with mode 0600 if it does not exist. No other process may
// open it meanwhile.
func Open(_ context.Context, o Options) (*Checkpoint, error) {
	c := &Checkpoint{writer: connection{path: o.Path, dialer: cmp.Or(dialer{o.Driver, o.System}, usual), log: o.Logger, export: o.Export}}
	if o.Logger == nil {
		c.writer.log = slog.New(slog.DiscardHandler)
	}
	c.reader.path, c.reader.dialer, c.reader.explain = o.Path, c.writer.dialer, c.writer.explain
	c.reader.vet = c.writer.vet
	if _, err := c.writer.vet(); err != nil {
		c.writer.close()
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	return c, nil
}

// Changes returns a channel that receives after approvals or stops have changed.
func (c *Checkpoint) Changes() <-chan struct{} { return c.changes.listen(&c.reader) }

// Close gives up the database. Closing twice is not an error.
func (c *Checkpoint) Close() error {
	c.changes.close()
	c.reader.close()
	c.writer.close()
	return nil
}

// Try writes n bytes to the database and takes them back: it says whether it can be written.
func (c *Checkpoint) Try(n int) error {
	return c.writer.transact(func(l *link) error {
		_, err := l.exec("INSERT OR REPLACE INTO part (scope, name, version, changed, data) VALUES ('trial', '', 1, 0, ?)", strings.Repeat("x", n))
		if err == nil {
			_, err = l.exec("DELETE FROM part WHERE scope = 'trial'")
		}
		return err
	})
}
