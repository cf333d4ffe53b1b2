package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"os"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
	"github.com/petrigate/petrigate/internal/safefile"
)

// The values of [Options.Sync].
const (
	Full   = "full"   // a reservation is on the disk when it is committed, where what it moves outlives the process
	Always = "always" // each reservation is
	Normal = "normal" // none need be: with power the last steps may be lost, never with the process
)

// Options say where the state is, and when it is brought to the disk.
type Options struct {
	Path   string           // of the database; the log is beside it
	Sync   string           // empty: [Full]
	Writer string           // name of the chain of records; empty: a new one
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: the clock of the machine

	disk    disk // nil: of the machine
	segment int64
	dial    func(*sqlite.Options) // nil: the database is opened in the usual way
}

// Bounds of what the checkpoint lacks.
const (
	foldAfter   = time.Second
	foldBytes   = 8 << 20     // of lines, which are not waited for as long
	foldAgain   = time.Second // after a failure
	mostBacklog = 64 << 20    // bytes of lines; above it nothing is reserved
	mostSegment = 16 << 20    // bytes, above which the next segment is begun
)

// A Backend is an open log with its checkpoint. It implements [backend.Backend].
//
// Locks are taken in this order: appending, the turn, folding, mu.
type Backend struct {
	name    string
	sync    string
	now     func() time.Time
	logger  *slog.Logger
	segment int64

	appending sync.Mutex // held while appending to the log
	turns     turnstile
	timer     *time.Timer // of the turn
	batch     batch

	folding    sync.Mutex // held while writing the checkpoint from the image
	checkpoint *sqlite.Checkpoint
	kick       chan struct{} // wakes the goroutine that folds
	stop       chan struct{}
	ended      chan struct{}

	archive archive

	mu       sync.Mutex
	log      log
	image    image
	closed   bool
	chain    link
	fault    error // of the last write
	unfolded error // of the last fold
	lacking  int   // bytes that could not be written; 0: there was room
	retry    int64 // size of the segment at which it is put aside, where that has failed before
}

var _ backend.Backend = (*Backend)(nil)

// Open opens the state, and makes its files, with mode 0600, and their directory, with mode 0700, if
// they do not exist. Files and directories that others may write are refused.
func Open(ctx context.Context, o Options) (*Backend, error) {
	path, err := filepath.Abs(o.Path)
	switch {
	case err != nil:
	case o.Path == "":
		err = errors.New("it has no path")
	case o.Sync != "" && o.Sync != Full && o.Sync != Always && o.Sync != Normal:
		err = fmt.Errorf("sync is %q; use %q, %q or %q", o.Sync, Full, Always, Normal)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	b := &Backend{
		name: cmp.Or(o.Writer, strings.ToLower(rand.Text())), sync: cmp.Or(o.Sync, Full), now: o.Now, logger: o.Logger,
		segment: cmp.Or(o.segment, mostSegment),
		turns:   turnstile{path: path, patience: 5 * time.Second},
		kick:    make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	if b.now == nil {
		b.now = time.Now
	}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	b.archive.directory = directory{disk: o.disk, path: path, owner: b.name}
	if o.disk == nil {
		b.archive.disk = machine{}
	}
	b.log.directory = b.archive.directory
	if err := b.open(ctx, o.dial); err != nil {
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	b.timer = time.AfterFunc(time.Hour, b.expire) // not before the field is set
	b.timer.Reset(lease)
	go b.foldAll()
	return b, nil
}

// open recovers the state, in the turn of this process.
func (b *Backend) open(ctx context.Context, dial func(*sqlite.Options)) (err error) {
	dir := filepath.Dir(b.log.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := safefile.OwnDirectory(dir); err != nil {
		return err
	}
	if err := b.turns.take(ctx); err != nil {
		return err
	}
	defer func() {
		b.turns.give()
		if err != nil {
			b.log.close()
			b.turns.close()
			if b.checkpoint != nil {
				_ = b.checkpoint.Close()
			}
		}
	}()
	o := sqlite.Options{Path: b.log.path, Logger: b.logger, Export: func(total int64, records iter.Seq2[backend.Record, error]) ([]sqlite.Segment, error) {
		return b.log.export(b.logger, total, records)
	}}
	if dial != nil {
		dial(&o)
	}
	if b.checkpoint, err = sqlite.Open(ctx, o); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		return err
	}
	if err := b.recover(); err != nil {
		return err
	}
	if err := b.log.removeLeftovers(time.Now()); err != nil {
		return err
	}
	return b.testify()
}

// load makes the image that of the checkpoint, and has the log read on from there.
func (b *Backend) load() error {
	var at sqlite.Place
	err := b.checkpoint.Read(func(r sqlite.Reading) (err error) {
		if at, err = r.Place(); err != nil {
			return err
		}
		stops, err := r.Stops()
		if err != nil {
			return err
		}
		clock, err := r.Clock()
		b.image = newImage(&at, stops, clock)
		if err != nil {
			return err
		}
		heads, err := r.Heads()
		for i := range heads {
			if h := &heads[i]; h.Writer == b.name && h.Seq > b.chain.seq {
				b.chain = link{h.Seq, h.Hash}
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	switch b.log.database {
	case "":
		b.log.database, b.archive.database, b.archive.checkpoint = at.ID, at.ID, b.checkpoint
	case at.ID:
	default:
		return fmt.Errorf("%w: another database has taken its place", backend.ErrRolledBack)
	}
	b.log.close()
	return nil
}

// hold locks the image.
func (b *Backend) hold() { b.mu.Lock() }

func (b *Backend) release() { b.mu.Unlock() }

// begin waits until no other goroutine appends.
func (b *Backend) begin() { b.appending.Lock() }

func (b *Backend) end() { b.appending.Unlock() }

// beginFold waits until no other goroutine writes the checkpoint.
func (b *Backend) beginFold() { b.folding.Lock() }

func (b *Backend) endFold() { b.folding.Unlock() }

// isOpen returns [errClosed] once the backend is closed.
func (b *Backend) isOpen() error {
	b.hold()
	defer b.release()
	if b.closed {
		return errClosed
	}
	return nil
}

// Writer names the chain of this process.
func (b *Backend) Writer() string { return b.name }

// Merges reports true: a step may have what changes of a part.
func (b *Backend) Merges() bool { return true }

// Changes returns a channel that receives after approvals or stops have changed.
func (b *Backend) Changes() <-chan struct{} { return b.checkpoint.Changes() }

// expire gives up the turn in time.
func (b *Backend) expire() {
	if b.appending.TryLock() {
		b.turns.rest(time.Now())
		held := b.turns.held != nil
		b.appending.Unlock()
		if !held {
			return
		}
	}
	b.timer.Reset(lease)
}

// Close folds the log and closes the files. Closing twice is not an error.
func (b *Backend) Close() error {
	b.appending.Lock()
	defer b.appending.Unlock()
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	b.mu.Unlock()
	b.timer.Stop()
	close(b.stop)
	<-b.ended
	b.turns.give() // folding and sealing can take seconds, and other processes need no pause
	err := b.fold()
	b.mu.Lock()
	if b.log.size > b.image.at.offset && b.turns.tryTake() && !b.turns.files.lost() && b.toEnd() == nil {
		b.log.fill(b.image.at.offset)
	}
	b.turns.close()
	b.log.close()
	b.mu.Unlock()
	if more := b.checkpoint.Close(); more != nil {
		err = errors.Join(err, more)
	}
	if err != nil {
		b.logger.Warn("the log of the state is not folded: the next start does so", "error", err)
	}
	return nil
}

var errClosed = errors.New("it is closed")
