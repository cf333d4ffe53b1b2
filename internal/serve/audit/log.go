package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/internal/serve/safefile"
)

// A Log is an open audit file. It is safe for concurrent use. When lines reach
// the disk is left to the operating system.
type Log struct {
	regular bool // false for a device, which can neither be read nor cut

	mu   sync.Mutex
	file *os.File // nil once closed
	seq  uint64   // of the last whole line
	size int64    // of the file after it; unused for a device
	buf  []byte   // reused from line to line
}

// ErrClosed is returned for a record that comes after [Log.Close].
var ErrClosed = errors.New("the audit log is closed")

// Open opens the file at path for appending, and creates it with mode 0600 if
// it is not there. The directory must exist. A symbolic link, a directory and
// a file that others may write are refused. Numbers go on after the last line;
// half a line at the end, which a crash can leave behind, is cut off. Several
// processes may have the same file open: their lines share one count.
func Open(path string) (*Log, error) {
	f, err := open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	l := &Log{file: f}
	if l.regular, err = inspect(f); err == nil {
		err = l.locked(l.resume)
	}
	if err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return l, nil
}

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
	return openFile(path)
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

// Append writes one record, a JSON object without a line end, as one line with
// one write. The line gets a first member, "seq", which counts from 1 without
// a gap. After an error nothing of the record counts, and a later Append
// succeeds as soon as the file can be written again.
func (l *Log) Append(record []byte) error {
	if err := check(record); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return ErrClosed
	}
	return l.locked(func() error {
		if err := l.resume(); err != nil {
			return fmt.Errorf("writing to the audit log: %w", err)
		}
		l.buf = line(l.buf[:0], l.seq+1, record)
		return l.write(l.buf)
	})
}

// Close closes the file. Closing twice is no error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
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
	case bytes.ContainsAny(record, "\n\r"):
		return errors.New("an audit record must be one line")
	}
	return nil
}

// line is record with its number and a line end.
func line(buf []byte, seq uint64, record []byte) []byte {
	buf = append(buf, `{"seq":`...)
	buf = strconv.AppendUint(buf, seq, 10)
	if rest := bytes.TrimLeft(record[1:], " \t"); rest[0] != '}' {
		buf = append(buf, ',')
	}
	buf = append(buf, record[1:]...)
	return append(buf, '\n')
}

// write puts a whole line on file, or leaves the file as it was before.
func (l *Log) write(line []byte) error {
	n, err := l.file.Write(line)
	if err != nil {
		if l.regular && n > 0 {
			// If this fails too, the next resume finds the half line.
			_ = l.file.Truncate(l.size)
		}
		return fmt.Errorf("writing to the audit log: %w", err)
	}
	l.seq++
	l.size += int64(n)
	return nil
}

// locked runs f while no other process writes the file.
func (l *Log) locked(f func() error) error {
	if !l.regular {
		return f()
	}
	if err := lock(l.file); err != nil {
		return fmt.Errorf("locking the audit log: %w", err)
	}
	defer unlock(l.file)
	return f()
}
