package audit

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Log is an open audit file. It is safe for concurrent use. The operating system decides when
// lines reach the disk.
type Log struct {
	mu sync.Mutex // held during writes; guards the fields below
	logFile
	fault error // error of the last write; nil if that write succeeded
}

// ErrClosed is the error for a record after [Log.Close].
var ErrClosed = errors.New("the audit log is closed")

// Open opens the file at path for appending, and creates it with mode 0600 if it does not exist.
// The directory must exist. Open refuses a symbolic link, a directory, and a file that other users
// may write. The chain continues after the last line; a partial last line, which a crash can leave
// behind, is removed. Several processes can open the same file: their lines form one chain. The
// file has a head beside it; see [HeadSuffix].
func Open(path string, r Rotation) (*Log, error) {
	l := &Log{logFile: logFile{path: path, rotation: r}}
	l.lease.ended = l.expire
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

// Cut describes the lines that were missing or changed at the end of the file when the file was
// opened. It returns an empty string if all lines were intact.
func (l *Log) Cut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Headless reports whether the log has no head because its directory is not writable. Without a
// head, the removal of lines from the log's end is not detected.
func (l *Log) Headless() bool { return l.regular && l.head.file == nil }

// Append writes one record; see [Log.AppendAll].
func (l *Log) Append(record []byte) error { return l.AppendAll([][]byte{record}) }

// AppendAll writes each record, a JSON object without a line end, as one line. When it returns, the
// records survive the end of the process. On a busy log they reach the file some milliseconds
// later; see [Pending]. A line has two additional members: the first is "seq", which counts from 1
// without gaps; the last is "hash"; see [Link]. After an error none of the records count, and a
// later call succeeds as soon as the file is writable again.
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
	busy := l.lease.busy(time.Now())
	if l.lease.held && l.appendPending(records) {
		l.fault = nil
		return nil
	}
	var err error
	if l.lease.held {
		err = l.endLease()
	}
	if err == nil {
		err = l.locked(func() error { return l.append(records, busy) })
	}
	if err != nil {
		err = fmt.Errorf("writing to the audit log: %w", err)
	}
	l.fault = err
	return err
}

// State returns the highest known record number, written by any process, and the error from this
// process's last write, or nil.
func (l *Log) State() (last uint64, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.Seq, l.fault
}

// expire ends the lease when its time is over. It runs on the timer's goroutine.
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
