package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// A Log is an open audit file. It is safe for concurrent use. The operating system decides when
// lines reach the disk.
type Log struct {
	path     string
	rotation Rotation
	regular  bool // false for a device, which can be neither read nor truncated

	mu          sync.Mutex
	file        *os.File // nil once closed
	quick       quickfile.File
	head        head
	pending     *pendingFile // nil: none
	lease       lease
	first       uint64 // number of the first line of the file; 0: empty
	closed      bool   // the last line closes the file
	last        Place  // position of the last line
	written     Place  // position of the last line in the file; later lines are pending
	size        int64  // size of the file at that position; unused for a device
	retry       int64  // size for the next attempt to rotate
	cut         string // description of records missing at the end of the file; empty: none
	buf         []byte // reused between batches
	fault       error  // why the last records could not be written
	neededSpace int    // required disk space, see [Log.checkSpace]; 0: sufficient
}

// ErrClosed is returned for a record after [Log.Close].
var ErrClosed = errors.New("the audit log is closed")

// Open opens the file at path for appending, and creates it with mode 0600 if it does not exist.
// The directory must exist. A symbolic link, a directory, and a file that others may write are
// refused. The chain continues after the last line; a partial line at the end, which a crash can
// leave behind, is cut off. Several processes can open the same file: their lines form one chain.
// The file has a head beside it, see [HeadSuffix].
func Open(path string, r Rotation) (*Log, error) {
	l := &Log{path: path, rotation: r}
	if err := l.open(); err != nil {
		if l.file != nil {
			l.file.Close()
		}
		if l.pending != nil {
			l.pending.close()
		}
		l.head.close()
		return nil, openError(path, err)
	}
	return l, nil
}

func (l *Log) open() (err error) {
	if l.file, err = open(l.path); err != nil {
		return err
	}
	if l.regular, err = inspect(l.file); err != nil || !l.regular {
		return err
	}
	l.quick = quickfile.Of(l.file) // also for the files that follow it in the directory
	if l.head, err = openHead(l.path); err != nil {
		return err
	}
	l.size = -1 // read the existing content
	return l.locked(l.join)
}

// join reads the state that other processes have left. Requires the lock of the file.
func (l *Log) join() (err error) {
	if l.head.file != nil {
		if err := share(l.head.file); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(l.path + PendingSuffix); err == nil && info.Size() >= pendingEnd {
		if l.pending, err = openPendingFile(l.path); err != nil {
			return err
		}
	}
	return l.resume()
}

// Cut describes the lines that were missing or changed at the end of the file when it was opened;
// empty if none were.
func (l *Log) Cut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Headless reports whether the log has no head because its directory is not writable. Then lines
// cut off at its end are not detected.
func (l *Log) Headless() bool { return l.regular && l.head.file == nil }

// Append writes one record, see [Log.AppendAll].
func (l *Log) Append(record []byte) error { return l.AppendAll([][]byte{record}) }

// AppendAll writes records, each a JSON object without a line end, as one line each. When it
// returns, the records survive the process. On a busy log they reach the file some milliseconds
// later, see [Pending]. A line has two additional members: the first, "seq", counts from 1 without
// gaps; the last is "hash", see [Link]. After an error none of the records count, and a later call
// succeeds as soon as the file is writable again.
func (l *Log) AppendAll(records [][]byte) error {
	for _, r := range records {
		if err := check(r); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return ErrClosed
	}
	err := l.put(records)
	if err != nil {
		err = fmt.Errorf("writing to the audit log: %w", err)
	}
	l.fault = err
	return err
}

// State returns the last known record number of any process, and the error of the last write by
// this process, or nil.
func (l *Log) State() (last uint64, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.Seq, l.fault
}

// put appends the records to the chain.
func (l *Log) put(records [][]byte) error {
	busy := l.lease.busy(time.Now())
	if l.lease.held {
		if l.appendPending(records) {
			return nil
		}
		if err := l.endLease(); err != nil {
			return err
		}
	}
	return l.locked(func() error { return l.append(records, busy) })
}

// lines formats the records as lines, and returns the position of the last.
func (l *Log) lines(dst []byte, records [][]byte) ([]byte, Place) {
	end := l.last
	for _, r := range records {
		dst = end.append(dst, r)
	}
	return dst, end
}

// append requires the lock of the file.
func (l *Log) append(records [][]byte, busy bool) error {
	if err := l.resume(); err != nil {
		return err
	}
	if l.full() {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if busy && l.startLease(records) {
		return nil
	}
	lines, end := l.lines(l.buf[:0], records)
	l.buf = lines
	return l.write(lines, end)
}

// expire ends the lease when its time is over. It runs on the goroutine of a timer.
func (l *Log) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	if err := l.endLease(); err != nil {
		l.fault = fmt.Errorf("writing to the audit log: %w", err)
		l.lease.timer.Reset(leaseWait)
	}
}

// Close closes the file. Closing it again does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.closeLease(), l.file.Close())
	l.head.close()
	l.file = nil
	return err
}

// maxBuffer is the maximum size of a batch buffer that is kept for reuse.
const maxBuffer = 1 << 20

// write writes whole lines that end at the position end, or leaves the file unchanged.
func (l *Log) write(lines []byte, end Place) error {
	if err := l.checkSpace(len(lines)); err != nil {
		return err
	}
	n, err := l.quick.Write(l.file, lines)
	if err != nil {
		l.noteShortage(len(lines))
		if l.regular && n > 0 {
			// if this fails too, the next resume finds the partial line
			_ = l.file.Truncate(l.size)
		}
		return err
	}
	if l.first == 0 {
		l.first = l.last.Seq + 1
	}
	l.last, l.written, l.closed = end, end, false
	l.size += int64(n)
	l.head.write(end)
	if cap(l.buf) > maxBuffer {
		l.buf = nil
	}
	return nil
}

// locked runs f while it holds the lock of the file. f may replace l.file with another file that it
// has locked.
func (l *Log) locked(f func() error) error {
	if !l.regular {
		return f()
	}
	if err := lock(l.file); err != nil {
		return fmt.Errorf("locking it: %w", err)
	}
	defer func() {
		if !l.lease.held {
			unlock(l.file)
		}
	}()
	return f()
}
