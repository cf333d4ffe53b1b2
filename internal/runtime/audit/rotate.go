package audit

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Rotation configures when a log starts a new file. With the zero value, the log never starts a
// new file.
//
// The last line of a full file closes it, which tells every process that has it open to switch to
// the next file. The full file is renamed to NAME-FIRST-LAST.EXT, where FIRST and LAST are the
// numbers of its first and last lines. The first line of the next file continues the chain and
// names the previous file. No file is ever overwritten.
type Rotation struct {
	Size   int64       // size in bytes that triggers a rotation, or 0 for no limit
	Keep   int         // number of full files to keep, or 0 to keep all
	Failed func(error) // called with the reason if a full file cannot be renamed and keeps growing; may be nil
}

// Events that end one file and begin the next.
type closed struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // always "closed"
}

type continued struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"` // always "continued"
	Previous string    `json:"previous"`
	Last     string    `json:"last"` // hash of the last line of the previous file
}

// full reports whether it is time to start a new file.
func (l *logFile) full() bool {
	return l.regular && l.rotation.Size > 0 && l.size >= max(l.rotation.Size, l.retry)
}

// rotate closes the file and switches to the next one. If that fails, the file stays in use, and
// full returns false until the file has grown further.
func (l *logFile) rotate() error {
	l.retry = l.size + l.rotation.Size/8
	record, err := json.Marshal(closed{Time: time.Now(), Event: "closed"})
	if err != nil {
		return err
	}
	end := l.last
	l.buf = end.append(l.buf[:0], record)
	if err := l.write(l.buf, end); err != nil {
		return err
	}
	l.closed = true
	return l.switchFile()
}

// switchFile switches from a closed file to its successor. It must be called with the lock on the
// closed file held, and returns with the lock on the next file held.
func (l *logFile) switchFile() error {
	for {
		own, err := l.file.Stat()
		if err != nil {
			return err
		}
		now, err := os.Lstat(l.path)
		if err == nil && os.SameFile(own, now) {
			if err := l.archive(own); err != nil {
				l.failed(err)
				return nil // keep using the closed file
			}
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := l.openNext(); err != nil || !l.closed {
			return err
		}
	}
}

// openNext opens the file that is now at the log's path.
func (l *logFile) openNext() error {
	next, err := open(l.path)
	if err != nil {
		return err
	}
	if _, err = inspect(next); err == nil {
		err = lock(next)
	}
	if err != nil {
		next.Close()
		return err
	}
	l.file.Close() // closing the file also releases the lock
	l.file, l.first, l.retry = next, 0, 0
	info, err := next.Stat()
	if err != nil {
		return err
	}
	return l.readEnd(info.Size())
}

// archive renames the closed file and puts the next file in its place.
func (l *logFile) archive(own os.FileInfo) error {
	aside, err := l.archiveName(own)
	if err != nil {
		return err
	}
	next := l.path + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // cannot remove the file that a killed process left behind
	}
	f, err := openFile(next, os.O_APPEND|os.O_EXCL)
	if err != nil {
		return err
	}
	defer f.Close()
	record, err := json.Marshal(continued{Time: time.Now(), Event: "continued", Previous: filepath.Base(aside), Last: hex.EncodeToString(l.last.Hash[:])})
	if err != nil {
		return err
	}
	end := l.last
	if _, err := f.Write(end.append(nil, record)); err != nil {
		return err
	}
	if err := os.Link(l.path, aside); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(l.path, aside); err != nil { // the file system might not support hard links
			return err
		}
	}
	if err := os.Rename(next, l.path); err != nil {
		return errors.Join(err, os.Remove(aside)) // the closed file keeps its current name
	}
	l.head.write(end)
	l.prune()
	return nil
}

// archiveName returns an unused name for the closed file.
func (l *logFile) archiveName(own os.FileInfo) (string, error) {
	ext := filepath.Ext(l.path)
	stem := fmt.Sprintf("%s-%012d-%012d", strings.TrimSuffix(l.path, ext), cmp.Or(l.first, l.last.Seq), l.last.Seq)
	for n, name := 2, stem+ext; ; n++ {
		switch other, err := os.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		case os.SameFile(own, other): // the closed file already has this name, because a process was killed during the rotation
			return name, nil
		}
		name = fmt.Sprintf("%s.%d%s", stem, n, ext)
	}
}

// RotatedFiles returns the paths of the full files of the log at path, oldest first.
func RotatedFiles(path string) ([]string, error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), ext)
	pattern, err := regexp.Compile(`^` + regexp.QuoteMeta(stem) + `-[0-9]{12,20}-[0-9]{12,20}(\.[0-9]+)?` + regexp.QuoteMeta(ext) + `$`)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() && pattern.MatchString(e.Name()) {
			list = append(list, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	slices.Sort(list)
	return list, nil
}

// prune removes the oldest full files if there are more than configured.
func (l *logFile) prune() {
	if l.rotation.Keep <= 0 {
		return
	}
	list, err := RotatedFiles(l.path)
	if err != nil {
		l.failed(err)
		return
	}
	for _, name := range list[:max(0, len(list)-l.rotation.Keep)] {
		if err := os.Remove(name); err != nil {
			l.failed(err)
		}
	}
}

func (l *logFile) failed(err error) {
	if l.rotation.Failed != nil {
		l.rotation.Failed(err)
	}
}
