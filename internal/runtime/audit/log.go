package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/quickfile"
	"github.com/petrigate/petrigate/internal/safefile"
)

// A Log is an open audit file. It is safe for concurrent use. When lines reach
// the disk is left to the operating system.
type Log struct {
	path     string
	rotation Rotation
	regular  bool // false for a device, which can neither be read nor cut

	mu      sync.Mutex
	file    *os.File // nil once closed
	quick   quickfile.File
	head    head
	room    *room // nil: there is none
	lease   lease
	first   uint64 // number of the first line of the file; 0: it has none
	closed  bool   // the last line closes the file
	last    Place  // of the last line
	written Place  // of the last one in the file; others are in the room
	size    int64  // of the file after it; unused for a device
	retry   int64  // a size at which it is tried again to put the file aside
	cut     string // what is missing at the end of the file; empty: nothing
	buf     []byte // reused from batch to batch
	fault   error  // why the last records could not be written
	wanted  int    // bytes that there has to be room for, see [Log.tries]; 0: there was room
}

// ErrClosed is returned for a record that comes after [Log.Close].
var ErrClosed = errors.New("the audit log is closed")

// Open opens the file at path for appending, and creates it with mode 0600 if
// it is not there. The directory must exist. A symbolic link, a directory and
// a file that others may write are refused. The chain goes on after the last line;
// half a line at the end, which a crash can leave behind, is cut off. Several
// processes may have the same file open: their lines are on one chain. Beside it is
// its head, see [HeadSuffix].
func Open(path string, r Rotation) (*Log, error) {
	l := &Log{path: path, rotation: r}
	if err := l.open(); err != nil {
		if l.file != nil {
			l.file.Close()
		}
		if l.room != nil {
			l.room.close()
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
	l.quick = quickfile.Of(l.file) // and those that follow it in the directory
	if l.head, err = openHead(l.path); err != nil {
		return err
	}
	l.size = -1 // what is there is to be read
	return l.locked(l.join)
}

// join finds what other processes have left. It requires the lock of the file.
func (l *Log) join() (err error) {
	if l.head.file != nil {
		if err := share(l.head.file); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(l.path + PendingSuffix); err == nil && info.Size() >= roomEnd {
		if l.room, err = openRoom(l.path); err != nil {
			return err
		}
	}
	return l.resume()
}

// Cut says what was found to be missing at the end of the file as it was opened, where lines
// were cut off or changed; empty: nothing.
func (l *Log) Cut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Headless reports whether the log has no head, since its directory takes none: lines that
// are cut off at its end will not be missed.
func (l *Log) Headless() bool { return l.regular && l.head.file == nil }

// openError names the file once.
func openError(path string, err error) error {
	var about *fs.PathError
	if errors.As(err, &about) && about.Path == path {
		err = about.Err
	}
	return fmt.Errorf("opening the audit log %s: %w", path, err)
}

// open opens or creates the file, once its directory is found to be safe.
func open(path string) (*os.File, error) {
	if err := safefile.Directory(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return openFile(path, os.O_APPEND)
}

// inspect says whether the file is a regular one, and refuses a file whose
// lines could be somebody else's.
func inspect(f *os.File) (regular bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return false, errors.New("it is a directory")
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return false, errors.New("it is a pipe or a socket")
	case !mode.IsRegular():
		return false, nil // a device: nothing to go on from
	}
	return true, safefile.Regular(info)
}

// Append writes one record, see [Log.AppendAll].
func (l *Log) Append(record []byte) error { return l.AppendAll([][]byte{record}) }

// AppendAll writes records, each a JSON object without a line end, as one line each, together.
// Once it returns they outlive the process; in the file they are some milliseconds later where
// many come, see [Pending]. A line has two members of its own: a first one, "seq", which counts
// from 1 without a gap, and a last one, "hash", see [Link]. After an error nothing of the
// records counts, and a later call succeeds as soon as the file can be written again.
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

// State returns the number of the last record, of whatever process, as far as this one
// knows, and why the last that it had to write could not be written; nil: they were.
func (l *Log) State() (last uint64, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.Seq, l.fault
}

// put puts the records on the chain.
func (l *Log) put(records [][]byte) error {
	busy := l.lease.busy(time.Now())
	if l.lease.held {
		if l.keep(records) {
			return nil
		}
		if err := l.settle(); err != nil {
			return err
		}
	}
	return l.locked(func() error { return l.append(records, busy) })
}

// lines appends the records as lines, and returns the place of the last.
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
	if busy && l.borrow(records) {
		return nil
	}
	lines, end := l.lines(l.buf[:0], records)
	l.buf = lines
	return l.write(lines, end)
}

// expire ends the lease in time.
func (l *Log) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	if err := l.settle(); err != nil {
		l.fault = fmt.Errorf("writing to the audit log: %w", err)
		l.lease.timer.Reset(leaseWait)
	}
}

// Close closes the file. Closing twice is no error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.leave(), l.file.Close())
	l.head.close()
	l.file = nil
	return err
}

// maxRecord is more than any record has: the arguments of a call are not in it.
const maxRecord = 4 << 20

// check refuses what would not be one line with one object in it. Whether the
// object is sound inside is the business of the caller, who encoded it.
func check(record []byte) error {
	switch {
	case len(record) < 2 || record[0] != '{' || record[len(record)-1] != '}':
		return errors.New("an audit record must be a JSON object")
	case len(record) > maxRecord:
		return errors.New("an audit record must not be longer than 4 MiB")
	case bytes.IndexByte(record, '\n') >= 0 || bytes.IndexByte(record, '\r') >= 0:
		return errors.New("an audit record must be one line")
	}
	return nil
}

// maxBuffer is the size above which the buffer of a batch is not kept.
const maxBuffer = 1 << 20

// write puts whole lines on file, up to the place end, or leaves the file as it was before.
func (l *Log) write(lines []byte, end Place) error {
	if err := l.tries(len(lines)); err != nil {
		return err
	}
	n, err := l.quick.Write(l.file, lines)
	if err != nil {
		l.lacked(len(lines))
		if l.regular && n > 0 {
			// If this fails too, the next resume finds the half line.
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

// locked runs f while no other process writes the file. f may put another file in its
// place, which it has locked.
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
