package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// reader holds the reading connection. Each use is short, because a long read transaction would
// prevent SQLite from restarting its write-ahead log.
type reader struct {
	writer *connection // checks the file before each use

	mu     sync.Mutex
	link   *link // nil if not connected
	file   fs.FileInfo
	closed bool
}

// use runs f in a transaction on the connection.
func (r *reader) use(f func(*link) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed(r.writer.path)
	}
	if err := r.attach(); err != nil {
		return r.writer.explain(err)
	}
	err := r.transact(f)
	if broken(err) {
		r.detach()
	}
	return r.writer.explain(err)
}

func (r *reader) transact(f func(*link) error) error {
	if err := r.link.exec("BEGIN"); err != nil {
		return err
	}
	err := f(r.link)
	end := r.link.exec("ROLLBACK")
	return errors.Join(err, end)
}

func (r *reader) attach() error {
	info, err := os.Lstat(r.writer.path)
	if err != nil {
		r.detach()
		if errors.Is(err, fs.ErrNotExist) && r.file != nil {
			return errRemoved
		}
		return err
	}
	if r.link != nil && os.SameFile(info, r.file) {
		return nil
	}
	r.detach()
	if r.file, err = r.writer.validate(); err != nil {
		return err
	}
	r.link, err = r.writer.dialer.dial(r.writer.path, reading)
	return err
}

func (r *reader) detach() {
	if r.link != nil {
		_ = r.link.abandon() // the write-ahead log is left for the writing connection to remove
		r.link = nil
	}
}

func (r *reader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.detach()
}
