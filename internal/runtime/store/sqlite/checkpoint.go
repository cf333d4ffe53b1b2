package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Options configures a [Checkpoint].
type Options struct {
	Path   string // absolute path of the file
	Export Export // receives the records of older schemas; if nil, these records are dropped

	// The following fields are for tests with disks that lose power.
	Driver, System string // database/sql driver and its file system; if empty, the defaults are used
}

// Checkpoint is an open database. It is safe for concurrent use.
type Checkpoint struct {
	writer  connection
	reader  reader
	changes changes
}

// Open opens the database, and creates it with mode 0600 if it does not exist. The caller must
// prevent other processes from opening it at the same time.
func Open(_ context.Context, o Options) (*Checkpoint, error) {
	c := &Checkpoint{writer: connection{path: o.Path, dialer: cmp.Or(dialer{o.Driver, o.System}, defaultDialer), export: o.Export}}
	c.reader.writer = &c.writer
	if _, err := c.writer.validate(); err != nil {
		c.writer.close()
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	return c, nil
}

// Changes returns a channel that receives a value when approvals or stops may have changed.
func (c *Checkpoint) Changes() <-chan struct{} { return c.changes.listen(&c.reader) }

// Close closes the database. It returns nil if the database is already closed.
func (c *Checkpoint) Close() error {
	c.changes.close()
	c.reader.close()
	c.writer.close()
	return nil
}

// write runs f in a transaction. It prefixes errors with the given description.
func (c *Checkpoint) write(doing string, f func(*link) error) error {
	if err := c.writer.transact(f); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Try checks whether the database is writable by writing n bytes and removing them again.
func (c *Checkpoint) Try(n int) error {
	return c.writer.transact(func(l *link) error {
		err := l.exec("INSERT OR REPLACE INTO part (scope, name, version, changed, data) VALUES ('trial', '', 1, 0, ?)", strings.Repeat("x", n))
		if err == nil {
			err = l.exec("DELETE FROM part WHERE scope = 'trial'")
		}
		return err
	})
}
