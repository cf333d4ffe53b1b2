package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// A scribe has the one connection that writes, and knows what is in the database as long
// as nobody else writes.
type scribe struct {
	path   string
	dialer dialer
	lazy   bool // nothing has to be on the disk when it is committed
	name   string
	now    func() time.Time
	log    *slog.Logger
	turns  turnstile

	mu      sync.Mutex  // of one transaction
	link    *link       // nil: there is no connection now
	file    fs.FileInfo // that was found to be good last, as it was then
	image   image
	journal fs.FileInfo // the log of it
	doubt   bool        // another file has taken the place of the one that was in use
	closed  bool
	synced  bool  // what synchronous is set to: FULL
	fault   error // of the last transaction
	lacking int   // bytes of the largest op for which there was no room; 0: there was room
	hurried bool  // the connection waits for a lock for a moment only

	chain chain // that was committed last
	notes notes
	proof witness
}

// A chain is the end of the chain of this process.
type chain struct {
	id   int64 // of the writer; 0: it has no row yet
	seq  uint64
	hash [32]byte
}

// notes are what was read in the database or written to it.
type notes struct {
	taken    bool
	data     int64 // what data_version was
	versions map[backend.PartID]int64
	stops    map[string]bool
	clock    clock
}

// A clock is what the records say of the time, in microseconds since 1970. A use of the kill switch
// says what time it is: the records until then that are later are of a clock that was ahead, and
// say nothing of other clocks.
type clock struct {
	latest int64 // of all records; 0: there is none
	told   int64 // by the last use of the kill switch; 0: it was never used
	ahead  int64 // the latest record when it was used
}

// newest returns the time that no reservation may be far behind.
func (c clock) newest() time.Time {
	if c.latest > c.ahead {
		return time.UnixMicro(c.latest)
	}
	return time.UnixMicro(c.told)
}

// most is how many versions are noted.
const most = 1 << 16

// A step does something in a transaction. Where it wrote nothing, nothing is committed.
type step func(tx *transaction) (wrote bool, err error)

// open connects for the first time.
func (s *scribe) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil { // where the turns are, too
		return err
	}
	return s.inTurn(ctx, s.attach)
}

// transact runs a step alone. Where it is durable, it is on the disk once this returns
// nil, with all that was committed before.
func (s *scribe) transact(ctx context.Context, durable bool, f step) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("the state database %q is closed", s.path)
	}
	err := s.inTurn(ctx, func() error {
		err := s.try(durable, f)
		s.hurry(err)
		if err == nil {
			s.prove(false)
		}
		return err
	})
	if s.fault = err; err != nil {
		s.turns.locks.close() // the files may be others by then
	}
	return err
}

// alone runs f in the turn of this process. That it fails is no reason to refuse anything.
func (s *scribe) alone(ctx context.Context, f func(*scribe) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("the state database %q is closed", s.path)
	}
	err := s.inTurn(ctx, func() error {
		if err := s.attach(); err != nil {
			return err
		}
		err := f(s)
		if broken(err) {
			s.detach()
		}
		return err
	})
	if err != nil {
		s.turns.locks.close() // the files may be others by then
	}
	return err
}

// inTurn runs f while no other process that heeds turns writes.
func (s *scribe) inTurn(ctx context.Context, f func() error) error {
	done, err := s.turns.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	err = f()
	if errors.Is(err, backend.ErrRolledBack) {
		s.insist()
	}
	return s.explain(err)
}

func (s *scribe) try(durable bool, f step) error {
	if err := s.attach(); err != nil {
		return err
	}
	err := s.commit(durable && !s.lazy, f)
	if broken(err) {
		s.detach()
	}
	return err
}

func (s *scribe) commit(durable bool, f step) error {
	if err := s.sync(durable); err != nil {
		return err
	}
	if _, err := s.link.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	tx := &transaction{scribe: s, link: s.link, chain: s.chain}
	err := s.look()
	wrote := false
	if err == nil {
		tx.chain, tx.clock = s.chain, s.notes.clock
		wrote, err = f(tx)
	}
	if err != nil || !wrote {
		_, rollback := s.link.exec("ROLLBACK") // may have been done by SQLite
		if err == nil {
			err = rollback
		}
		return err
	}
	if _, err := s.link.exec("COMMIT"); err != nil {
		_, _ = s.link.exec("ROLLBACK")
		s.notes = notes{}
		return err
	}
	tx.keep()
	return nil
}

// sync sets what the next commit waits for.
func (s *scribe) sync(full bool) (err error) {
	if full == s.synced {
		return nil
	}
	mode := "NORMAL"
	if full {
		mode = "FULL"
	}
	if err = s.link.run("PRAGMA synchronous = " + mode); err == nil {
		s.synced = full
	}
	return err
}

// look sees whether another process has written since the last transaction.
func (s *scribe) look() error {
	data, err := s.link.number("PRAGMA data_version")
	if err != nil || s.notes.taken && s.notes.data == data {
		return err
	}
	if version, err := s.link.number("PRAGMA user_version"); err != nil {
		return err
	} else if err := schema.Check(int(version)); err != nil {
		return err
	}
	n := notes{taken: true, data: data, versions: map[backend.PartID]int64{}, stops: map[string]bool{}}
	err = s.link.rows("SELECT session FROM stop", nil, func(scan func(...any) error) error {
		var session string
		err := scan(&session)
		n.stops[session] = true
		return err
	})
	if err != nil {
		return err
	}
	const clocks = `SELECT coalesce((SELECT time + late FROM record ORDER BY id DESC LIMIT 1), 0),
  coalesce((SELECT value FROM counter WHERE name = 'told'), 0), coalesce((SELECT value FROM counter WHERE name = 'ahead'), 0)`
	if _, err := s.link.row(clocks, nil, &n.clock.latest, &n.clock.told, &n.clock.ahead); err != nil {
		return err
	}
	if err := s.recognize(); err != nil {
		return err
	}
	s.notes = n
	return nil
}

// recognize finds the end of the chain of this process. If it is not there, the database
// is an older one. If there is more, a commit took effect although it failed.
func (s *scribe) recognize() error {
	c := chain{}
	var hash []byte
	const last = "SELECT w.id, r.seq, r.hash FROM writer w JOIN record r ON r.writer = w.id WHERE w.name = ? ORDER BY r.seq DESC LIMIT 1"
	found, err := s.link.row(last, []any{s.name}, &c.id, &c.seq, &hash)
	if err != nil {
		return err
	}
	copy(c.hash[:], hash)
	switch {
	case !found:
		return s.unrecognized()
	case c.seq == s.chain.seq && c.hash == s.chain.hash, c.seq > s.chain.seq:
		s.chain = c
		return nil
	}
	return s.rolledBack(s.name, s.chain.seq)
}

// unrecognized is for a database without a chain of this process.
func (s *scribe) unrecognized() error {
	if s.chain.seq == 0 {
		return nil
	}
	return s.rolledBack(s.name, s.chain.seq)
}

// attach connects, unless there is a connection to the file that has the name now.
func (s *scribe) attach() error {
	info, err := os.Lstat(s.path)
	same := err == nil && s.file != nil && os.SameFile(info, s.file)
	switch {
	case !same || s.link == nil:
		s.detach()
		return s.connect(same)
	case unchanged(info, s.file):
		return nil
	}
	seen, err := s.foresee(info, true)
	if err == nil {
		s.file, s.image = info, seen
	}
	return err
}

// connect makes a new connection, to the same file as before or another one.
func (s *scribe) connect(same bool) error {
	if err := s.create(); err != nil {
		return err
	}
	info, err := os.Lstat(s.path)
	if err != nil {
		return err
	}
	seen, err := s.foresee(info, same)
	if err != nil {
		return err
	}
	s.doubt = s.doubt || s.file != nil && !same
	if s.link, err = s.dialer.dial(s.path, writing); err != nil {
		return err
	}
	s.link.file = info
	s.synced, s.notes = true, notes{}
	if err := s.inspect(); err != nil {
		s.detach()
		return err
	}
	s.file, s.image = info, seen
	s.journal, _ = os.Lstat(s.path + "-wal") // nil: there is none
	return nil
}

// vet makes sure that the file that has the name now may be used, and returns what it is.
func (s *scribe) vet() (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("the state database %q is closed", s.path)
	}
	err := s.inTurn(context.Background(), s.attach)
	return s.file, err
}

// inspect looks at what is in the file before anything is written to it.
func (s *scribe) inspect() error {
	if s.doubt {
		if err := sound(s.link); err != nil {
			return err
		}
	}
	empty, err := examine(s.link)
	if err != nil {
		return err
	}
	if empty {
		err = s.unrecognized()
	} else {
		err = s.recognize() // first, since it knows a later record than the witness
	}
	if err == nil {
		err = s.proof.check(s, empty)
	}
	if err == nil {
		err = migrate(s.link)
	}
	s.doubt = s.doubt && err != nil
	return err
}

// check refuses files that others could have written, and some that nobody can write: from
// such SQLite would go on to make a log that nobody can write either.
func (s *scribe) check() error {
	if err := safefile.OwnDirectory(filepath.Dir(s.path)); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-next", "-turn", witnessSuffix} {
		info, err := os.Lstat(s.path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return backend.Unusable(fmt.Errorf("%q is no regular file", s.path+suffix))
		case info.Mode().Perm()&0o600 != 0o600:
			return fmt.Errorf("%q may not be written (mode %04o); chmod 600", s.path+suffix, info.Mode().Perm())
		}
		if err := safefile.Regular(info); err != nil {
			return fmt.Errorf("%q: %w", s.path+suffix, err)
		}
	}
	return nil
}

// create makes the file if it is not there. A file that is there is not opened: to close it
// again would take the locks of SQLite from it.
func (s *scribe) create() error {
	if err := s.check(); err != nil {
		return err
	}
	if _, err := os.Lstat(s.path); err == nil {
		return nil
	}
	if s.chain.seq > 0 {
		return errRemoved
	}
	if err := s.proof.check(s, true); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // by another process, just now
	case err != nil:
		return err
	}
	return f.Close()
}

var errRemoved = errors.New("the file was removed while it was in use; put it back, or end all petrigate that use it and start anew")

// detach gives up the connection, so that the next transaction makes a new one.
func (s *scribe) detach() {
	if s.link == nil {
		return
	}
	info, err := os.Lstat(s.path)
	if err == nil && os.SameFile(info, s.link.file) {
		_ = s.link.close()
	} else {
		_ = s.link.abandon()
	}
	s.link, s.notes, s.hurried = nil, notes{}, false
}

// close ends the use of the file, once all that was committed is on the disk.
func (s *scribe) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	defer s.turns.locks.close()
	return s.inTurn(ctx, func() error {
		if s.link != nil {
			s.prove(true)
		}
		s.detach()
		return nil
	})
}

// ready reports why nothing can be committed. After a failure it tries to: it commits as much as
// the largest op for which there was no room, since a disk may have room for less.
func (s *scribe) ready(ctx context.Context) error {
	s.mu.Lock()
	lacking := s.lacking
	well := s.fault == nil && lacking == 0 && !s.closed
	s.mu.Unlock()
	if info, err := os.Lstat(s.path); well && err == nil && info.Mode().IsRegular() {
		return nil
	}
	err := s.transact(ctx, true, func(tx *transaction) (bool, error) { return true, tx.try(lacking) })
	if err != nil || lacking == 0 {
		return err
	}
	if err := s.transact(ctx, false, func(tx *transaction) (bool, error) { return true, tx.untry() }); err != nil {
		return err
	}
	s.found(lacking)
	return nil
}

// lacked notes that there was no room for ops, if the error says so.
func (s *scribe) lacked(ops []*backend.Op, err error) {
	if c := code(err); c != lib.SQLITE_FULL && c != lib.SQLITE_IOERR {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking = max(s.lacking, backend.Largest(ops))
}

// found notes that there was room for n bytes.
func (s *scribe) found(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lacking <= n {
		s.lacking = 0
	}
}
