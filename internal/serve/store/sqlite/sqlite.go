package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// The values of [Options.Sync].
const (
	Full   = "full"   // what reserves is on the disk when it is committed
	Normal = "normal" // the last commits may be lost with power, never with the process
)

// Options say where the database is, and how it is written.
type Options struct {
	Path   string
	Sync   string           // empty: [Full]
	Writer string           // the name of the chain of records; empty: a new one
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: the clock of the machine

	dialer dialer
}

// A Backend is an open database.
type Backend struct {
	scribe  scribe
	reader  reader
	changes changes
}

var _ backend.Backend = (*Backend)(nil)

// Open opens the database, and makes it, with mode 0600, and its directory, with mode 0700,
// if they are not there. Files and directories that others may write are refused.
func Open(ctx context.Context, o Options) (*Backend, error) {
	path, err := filepath.Abs(o.Path)
	switch {
	case err != nil:
	case o.Path == "":
		err = fmt.Errorf("it has no path")
	case o.Sync != "" && o.Sync != Full && o.Sync != Normal:
		err = fmt.Errorf("sync is %q; use %q or %q", o.Sync, Full, Normal)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	b := &Backend{scribe: scribe{
		path:   path,
		dialer: cmp.Or(o.dialer, usual),
		lazy:   o.Sync == Normal,
		name:   cmp.Or(o.Writer, strings.ToLower(rand.Text())),
		now:    o.Now,
		log:    o.Logger,
	}}
	if o.Now == nil {
		b.scribe.now = time.Now
	}
	if o.Logger == nil {
		b.scribe.log = slog.New(slog.DiscardHandler)
	}
	b.scribe.turns = turnstile{path: path, patience: 2 * time.Second}
	b.reader.path, b.reader.dialer, b.reader.explain = path, b.scribe.dialer, b.scribe.explain
	b.reader.vet = b.scribe.vet
	if err := b.scribe.open(ctx); err != nil {
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	return b, nil
}

// Writer names the chain of this process.
func (b *Backend) Writer() string { return b.scribe.name }

// Ready reports why nothing can be committed now.
func (b *Backend) Ready(ctx context.Context) error {
	if err := b.scribe.ready(ctx); err != nil {
		return fmt.Errorf("the state database cannot be written: %w", err)
	}
	return nil
}

// Changes wakes whoever reads the channel when approvals or stops have changed.
func (b *Backend) Changes() <-chan struct{} { return b.changes.listen(&b.reader) }

// Close gives up the database. Closing twice is no error.
func (b *Backend) Close() error {
	b.changes.close()
	b.reader.close()
	return b.scribe.close(context.Background())
}
