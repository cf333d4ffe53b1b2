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

// Values of [Options.Sync].
const (
	Full   = "full"   // flush an op before its call is sent, if the op changes state that outlives the process
	Always = "always" // flush every op that admits a call, before its call is sent
	Normal = "normal" // flush no op; a power loss may lose the last steps, but a crash of the process loses none
)

// Options configures a [Backend].
type Options struct {
	Path   string           // path of the database; the log is beside it
	Sync   string           // defaults to [Full]
	Writer string           // name of this process's chain of records; if empty, a new chain begins
	Logger *slog.Logger     // if nil, nothing is logged
	Now    func() time.Time // defaults to time.Now

	disk    disk // defaults to the operating system's disk
	segment int64
	dial    func(*sqlite.Options) // if not nil, changes the options of the database
}

// Backend is an open log with its checkpoint. It implements [backend.Backend].
//
// Lock order: appending, the process lock, folding, mu.
type Backend struct {
	sync    string
	now     func() time.Time
	segment int64

	appending sync.Mutex  // held while appending to the log
	timer     *time.Timer // runs [Backend.expire] at intervals while this process holds the process lock
	batch     batch

	folding sync.Mutex // held while the changes in memory are written to the checkpoint
	stop    chan struct{}
	ended   chan struct{}

	archive archive

	mu sync.Mutex
	replica
	closed      bool
	lastErr     error // error of the last write
	lastFoldErr error // error of the last attempt to fold the log
	spaceNeeded int   // size in bytes of the largest write that did not fit on the disk; reset to 0 when a test write of this size succeeds
}

var _ backend.Backend = (*Backend)(nil)

// Open opens the log and its checkpoint. It creates missing files with mode 0600, and a missing
// directory with mode 0700. It refuses files and directories that other users can write to.
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
		sync: cmp.Or(o.Sync, Full), now: o.Now, segment: cmp.Or(o.segment, maxSegment), stop: make(chan struct{}), ended: make(chan struct{}),
		replica: replica{
			name: cmp.Or(o.Writer, strings.ToLower(rand.Text())), logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
			process: processLock{path: path, timeout: 5 * time.Second}, kick: make(chan struct{}, 1),
		},
	}
	if b.now == nil {
		b.now = time.Now
	}
	b.archive.directory = directory{disk: o.disk, path: path, owner: b.name}
	if o.disk == nil {
		b.archive.disk = osDisk{}
	}
	b.log.directory = b.archive.directory
	if err := b.open(ctx, o.dial); err != nil {
		return nil, fmt.Errorf("opening the state database: %w", err)
	}
	b.timer = time.AfterFunc(time.Hour, b.expire) // the long delay ensures that expire, which uses b.timer, does not run before b.timer is set
	b.timer.Reset(lease)
	go b.foldLoop()
	return b, nil
}

// open opens the checkpoint and recovers the log while holding the process lock.
func (b *Backend) open(ctx context.Context, dial func(*sqlite.Options)) (err error) {
	dir := filepath.Dir(b.log.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := safefile.CheckOwnDirectory(dir); err != nil {
		return err
	}
	if err := b.process.lock(ctx); err != nil {
		return err
	}
	defer func() {
		b.process.unlock()
		if err != nil {
			b.log.close()
			b.process.close()
			if b.checkpoint != nil {
				_ = b.checkpoint.Close()
			}
		}
	}()
	o := sqlite.Options{Path: b.log.path, Export: func(total int64, records iter.Seq2[backend.Record, error]) ([]sqlite.Segment, error) {
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
	b.archive.database, b.archive.checkpoint = b.log.database, b.checkpoint
	if err := b.recover(); err != nil {
		return err
	}
	if err := b.log.removeLeftovers(time.Now()); err != nil {
		return err
	}
	if err := b.log.flusher.flushTo(b.image.at.step, func() uint64 { return b.image.at.step }); err != nil {
		return err
	}
	b.writeDurableEnd(b.image.at)
	return nil
}

// lockImage locks mu, which guards the image and the log.
func (b *Backend) lockImage() { b.mu.Lock() }

func (b *Backend) unlockImage() { b.mu.Unlock() }

// lockAppend acquires the appending lock, so that no other goroutine appends.
func (b *Backend) lockAppend() { b.appending.Lock() }

func (b *Backend) unlockAppend() { b.appending.Unlock() }

// lockFold acquires the folding lock, so that no other goroutine writes the checkpoint.
func (b *Backend) lockFold() { b.folding.Lock() }

func (b *Backend) unlockFold() { b.folding.Unlock() }

// checkOpen returns [errClosed] if the backend is closed, and otherwise nil.
func (b *Backend) checkOpen() error {
	b.lockImage()
	defer b.unlockImage()
	if b.closed {
		return errClosed
	}
	return nil
}

// Writer implements [backend.Backend]. It returns the name of this process's chain.
func (b *Backend) Writer() string { return b.name }

// Merges implements [backend.Backend]. It returns true, because a step may contain changes to a
// part of the state instead of the whole part.
func (b *Backend) Merges() bool { return true }

// Changes implements [backend.Backend].
func (b *Backend) Changes() <-chan struct{} { return b.checkpoint.Changes() }

// expire releases the process lock if another process waits for it or if nothing was appended
// recently. The timer calls expire.
func (b *Backend) expire() {
	if b.appending.TryLock() {
		b.process.yield(time.Now())
		held := b.process.unlockFiles != nil
		b.appending.Unlock()
		if !held {
			return
		}
	}
	b.timer.Reset(lease)
}

// Close folds the log and closes the files. It returns nil if the backend is already closed.
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
	b.process.unlock() // release the lock now, so that other processes need not wait for folding and sealing, which may take seconds
	err := b.fold()
	b.mu.Lock()
	if b.log.size > b.image.at.offset && b.process.tryLock() && !b.process.files.replaced() && b.readToEnd() == nil {
		b.log.cutPadding(b.image.at.offset)
	}
	b.process.close()
	b.log.close()
	b.mu.Unlock()
	if more := b.checkpoint.Close(); more != nil {
		err = errors.Join(err, more)
	}
	if err != nil {
		b.logger.Warn("the state log is not folded into its checkpoint: the next start does so", "error", err)
	}
	return nil
}

var errClosed = errors.New("it is closed")
