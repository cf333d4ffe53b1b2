package audit

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Log is an open audit log file. It is safe for concurrent use. The operating system decides when
// lines reach the disk.
type Log struct {
	mu sync.Mutex // guards the fields below; held during writes
	logFile
	fault error // error of the last write, or nil
}

// ErrClosed is returned when a record is appended after [Log.Close].
var ErrClosed = errors.New("the audit log is closed")

// Open opens the log at path for appending, creating it with mode 0600 if necessary. The directory
// must exist. Open refuses symbolic links, directories, and files that other users may write.
//
// A partial last line, as left by a crash, is removed. The hash chain continues after the last
// whole line. Several processes can open the same file; their lines form one chain. Open also opens
// the log's head file; see [HeadSuffix].
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

// Cut describes the lines that were found missing or changed at the end of the file when it was
// opened. It returns an empty string if the end was intact.
func (l *Log) Cut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Headless reports whether the log has no head. This happens if its directory is not writable. The
// removal of lines at the end then cannot be detected.
func (l *Log) Headless() bool { return l.regular && l.head.file == nil }

// Append writes one record; see [Log.AppendAll].
func (l *Log) Append(record []byte) error { return l.AppendAll([][]byte{record}) }

// AppendAll writes each record, a JSON object without a trailing newline, as one line. The line has
// two additional members: the first is "seq", which counts from 1 without gaps, and the last is
// "hash" (see [Link]).
//
// When AppendAll returns, the records survive a crash of the process. On a busy log, they reach the
// file some milliseconds later (see [Pending]). If AppendAll returns an error, none of the records
// count. Later calls succeed as soon as the file is writable again.
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
		err = l.withLock(func() error { return l.append(records, busy) })
	}
	if err != nil {
		err = fmt.Errorf("writing to the audit log: %w", err)
	}
	l.fault = err
	return err
}

// State returns the highest known record number, whichever process wrote that record, and the error
// of this process's last write, if any.
func (l *Log) State() (last uint64, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.Seq, l.fault
}

// expire ends the lease when its time is up. It is called by the timer.
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

// Close closes the log. Closing it again does nothing.
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
