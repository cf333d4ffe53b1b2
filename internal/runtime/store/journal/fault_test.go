package journal

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A trial is a test that tampers with a state while the state is in use.
type trial struct {
	*testing.T
	path    string
	backend *Backend
	version int64
}

func try(t *testing.T) *trial {
	path := place(t)
	return &trial{T: t, path: path, backend: open(t, Options{Path: path})}
}

// log returns the path of the log.
func (t *trial) log() string { return t.path + logSuffix }

// commit commits the given number of steps in one session. Each step has a record.
func (t *trial) commit(steps int) error {
	for range steps {
		if err := commit(t.Context(), t.backend, sample("s", t.version)); err != nil {
			return err
		}
		t.version++
	}
	return nil
}

// good commits steps, and fails the test unless all succeed and the state is then ready.
func (t *trial) good(steps int) {
	t.Helper()
	if err := t.commit(steps); err != nil {
		t.Fatal(err)
	}
	if err := t.backend.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// refused fails the test unless commits fail and the state is not ready, both with an error that
// contains the text.
func (t *trial) refused(want string) {
	t.Helper()
	for range 2 {
		t.due()
		if err := t.commit(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %q", err, want)
		}
	}
	if err := t.backend.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("Ready: %v, want %q", err, want)
	}
}

// due makes the next step check the files, which otherwise happens every 10 ms.
func (t *trial) due() {
	t.backend.appending.Lock()
	defer t.backend.appending.Unlock()
	t.backend.mu.Lock()
	defer t.backend.mu.Unlock()
	if turns := &t.backend.process; !turns.verified.IsZero() {
		turns.verified = turns.verified.Add(-2 * lease)
	}
}

// whole checks that the state and the records match the committed steps.
func (t *trial) whole() {
	t.Helper()
	p, err := t.backend.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil || p[0].Version != t.version {
		t.Fatalf("version %d, %v; want %d", p[0].Version, err, t.version)
	}
	if n := len(linked(t.T, t.backend)); int64(n) != t.version {
		t.Fatalf("%d records of %d steps", n, t.version)
	}
}

// close closes the state, as at the end of a process.
func (t *trial) close() {
	t.Helper()
	t.must(t.backend.Close())
}

// again opens the state, as another process would.
func (t *trial) again() {
	t.Helper()
	b, err := Open(t.Context(), Options{Path: t.path})
	t.must(err)
	t.Cleanup(func() { _ = b.Close() })
	t.backend = b
}

// fails fails the test unless opening the state returns an error that contains the text.
func (t *trial) fails(want string) {
	t.Helper()
	b, err := Open(t.Context(), Options{Path: t.path})
	if err == nil {
		t.must(b.Close())
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("%v, want %q", err, want)
	}
}

// must ends the test if err is not nil. It is used for operations that are not being tested.
func (t *trial) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// copy replaces the file to with a new file that has the content of the file from.
func (t *trial) copy(from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	t.must(err)
	t.must(os.WriteFile(to+".copy", data, 0o600))
	t.must(os.Rename(to+".copy", to))
}

// over overwrites the file to with the content of the file from. The file to stays the same file.
func (t *trial) over(from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	t.must(err)
	t.must(os.WriteFile(to, data, 0o600))
}

const putBack = "the database is an older copy of itself: "

// TestTamperedLog checks that commits are refused with a reason if the log is tampered with while
// it is in use, and that they work again when the log is repaired.
func TestTamperedLog(outer *testing.T) {
	outer.Parallel()
	for name, c := range map[string]struct {
		harm func(t *trial)
		want string
		mend func(t *trial)
	}{
		"moved": {
			func(t *trial) { t.must(os.Rename(t.log(), t.log()+".away")) },
			`-log" was removed while it was in use; restore it`,
			func(t *trial) { t.must(os.Rename(t.log()+".away", t.log())) },
		},
		"removed, and put back as a copy": {
			func(t *trial) { t.must(os.Remove(t.log())) },
			`-log" was removed while it was in use; restore it`,
			func(t *trial) { t.copy(t.log()+".now", t.log()) },
		},
		"cut": {
			func(t *trial) { t.must(os.Truncate(t.log(), 3000)) },
			putBack + "the log is shorter than before; restore the newer copy",
			func(t *trial) { t.over(t.log()+".now", t.log()) },
		},
		"emptied": {
			func(t *trial) { t.must(os.Truncate(t.log(), 0)) },
			putBack + "the log is shorter than before; restore the newer copy",
			func(t *trial) { t.copy(t.log()+".now", t.log()) },
		},
		"an older copy": {
			func(t *trial) { t.copy(t.log()+".old", t.log()) },
			putBack + "another log has replaced its log; restore the newer copy",
			func(t *trial) { t.copy(t.log()+".now", t.log()) },
		},
		"written over by an older copy": {
			func(t *trial) { t.over(t.log()+".old", t.log()) },
			putBack + "step 10 of the log has changed; restore the newer copy",
			func(t *trial) { t.over(t.log()+".now", t.log()) },
		},
		"of another database": {
			func(t *trial) {
				other := place(t)
				t.must(open(t.T, Options{Path: other}).Close())
				t.copy(other+logSuffix, t.log())
			},
			`-log" is the log of another state database; restore its own log`,
			func(t *trial) { t.copy(t.log()+".now", t.log()) },
		},
		"no log": {
			func(t *trial) {
				t.must(os.WriteFile(t.log()+".copy", filled(5000), 0o600))
				t.must(os.Rename(t.log()+".copy", t.log()))
			},
			`-log" is not a petrigate log; restore its own log`,
			func(t *trial) { t.copy(t.log()+".now", t.log()) },
		},
	} {
		outer.Run(name, func(outer *testing.T) {
			for _, kept := range []bool{true, false} {
				t := try(outer)
				t.good(5)
				t.copy(t.log(), t.log()+".old")
				t.good(5)
				t.copy(t.log(), t.log()+".now")
				if !kept {
					t.rest()
				}
				c.harm(t)
				t.refused(c.want)
				c.mend(t)
				t.good(3)
				t.whole()
				t.close()
				t.again()
				t.good(3)
				if t.version != 16 {
					t.Error(t.version)
				}
			}
		})
	}
}

// rest releases the process lock, as happens after a short idle time.
func (t *trial) rest() { t.backend.rest() }

func (b *Backend) rest() {
	b.lockAppend()
	defer b.unlockAppend()
	b.process.unlock()
}

// TestTamperedLogAtStart checks that a state cannot be opened if its log, its database or the file
// that stores the end of the log was tampered with while no process used it.
func TestTamperedLogAtStart(outer *testing.T) {
	outer.Parallel()
	for name, c := range map[string]struct {
		harm func(t *trial)
		want string
	}{
		"removed":       {func(t *trial) { t.must(os.Remove(t.log())) }, `-log" is missing; restore it or, to continue from the checkpoint`},
		"cut":           {func(t *trial) { t.must(os.Truncate(t.log(), 3000)) }, putBack + "step 10 of its log has changed; restore the newer copy"},
		"an older copy": {func(t *trial) { t.copy(t.log()+".old", t.log()) }, putBack + "step 10 of its log has changed; restore the newer copy"},
		"older copies of both": {
			func(t *trial) { t.copy(t.log()+".old", t.log()); t.copy(t.path+".old", t.path) },
			putBack + "its log ends with step 5, but had step 10; restore the newer copy or, to continue without the lost steps",
		},
		"of another database": {
			func(t *trial) {
				other := place(t)
				t.must(open(t.T, Options{Path: other}).Close())
				t.copy(other+logSuffix, t.log())
			},
			`-log" is the log of another state database; restore its own log`,
		},
		"empty":    {func(t *trial) { t.must(os.Truncate(t.log(), 0)) }, `-log" is not a petrigate log; restore its own log`},
		"no log":   {func(t *trial) { t.must(os.WriteFile(t.log(), filled(5000), 0o600)) }, `-log" is not a petrigate log; restore its own log`},
		"database": {func(t *trial) { t.must(os.Remove(t.path)) }, `-log" is the log of another state database; restore its own log`},
		"both": {
			func(t *trial) { t.must(errors.Join(os.Remove(t.path), os.Remove(t.log()))) },
			`-log" is missing; restore it or, to continue from the checkpoint`,
		},
		"the file of the end": {
			func(t *trial) { t.must(os.WriteFile(t.path+endSuffix, []byte("{"), 0o600)) },
			"if the database and its log are the newest, remove that file",
		},
	} {
		outer.Run(name, func(outer *testing.T) {
			t := try(outer)
			t.good(5)
			t.close()
			t.copy(t.path, t.path+".old")
			t.copy(t.log(), t.log()+".old")
			t.again()
			t.good(5)
			t.close()
			for _, name := range []string{t.path, t.log(), t.path + endSuffix} {
				t.copy(name, name+".now")
			}
			c.harm(t)
			t.fails(c.want)
			t.fails(c.want)
			for _, name := range []string{t.path, t.log(), t.path + endSuffix} {
				t.copy(name+".now", name)
			}
			t.again()
			t.good(3)
		})
	}
}

// TestDamagedTail checks that nothing is cut off the log if a step that was on the disk is damaged.
func TestDamagedTail(outer *testing.T) {
	t := try(outer)
	t.good(10)
	t.backend.abandon() // ends without folding
	t.again()           // the next process stores the end of the log when it starts
	t.backend.abandon()
	whole, err := os.ReadFile(t.log())
	t.must(err)
	damaged := []byte(strings.Replace(string(whole), `{"step":7,`, `{"step":8,`, 1))
	t.must(os.WriteFile(t.log(), damaged, 0o600))
	t.fails(putBack + "its log ends with step 6, but had step 10; restore the newer copy")
	if left, err := os.ReadFile(t.log()); err != nil || string(left) != string(damaged) {
		t.Errorf("%d bytes are left of %d, %v", len(left), len(damaged), err)
	}
	t.must(os.WriteFile(t.log(), whole, 0o600))
	t.again()
	t.whole()
	t.good(1)
}

// TestOperatorContinuesAfterLoss checks that an operator who knows that data is lost can continue
// without it.
func TestOperatorContinuesAfterLoss(outer *testing.T) {
	t := try(outer)
	t.good(5)
	t.close()
	t.must(os.Remove(t.log()))
	t.fails("remove")
	t.must(os.Remove(t.path + endSuffix))
	t.again()
	t.good(3) // continues from the state in the database
	if heads, err := t.backend.Heads(t.Context()); err != nil || len(heads) != 2 || heads[0].Seq+heads[1].Seq != 8 {
		t.Error(heads, err)
	}
	t.close()
	t.again()
	t.good(1)
}

// TestTamperedDatabase checks that calls continue after the database in use has been tampered with,
// until the log must be folded, and that they work again when the database is repaired.
func TestTamperedDatabase(outer *testing.T) {
	outer.Parallel()
	for name, c := range map[string]struct {
		harm func(t *trial)
		want string
	}{
		"moved":         {func(t *trial) { t.must(os.Rename(t.path, t.path+".away")) }, "the file was removed while it was in use; restore it"},
		"no database":   {func(t *trial) { t.copy(t.path+".garbage", t.path) }, "it is not a database"},
		"another":       {func(t *trial) { t.copy(t.path+".other", t.path) }, "another file has replaced it, but not its log; restore the file"},
		"an older copy": {func(t *trial) { t.copy(t.path+".old", t.path) }, "another file has replaced it, but not its log; restore the file"},
		"no database, without its log": {
			func(t *trial) { t.alone(".garbage") }, "it is not a database",
		},
		"another, without its log": {
			func(t *trial) { t.alone(".other") }, "the log belongs to another database; restore its own database",
		},
		"an older copy, without its log": {
			func(t *trial) { t.alone(".old") }, putBack + "its checkpoint is at step 6, but was at 11; restore the newer copy",
		},
	} {
		outer.Run(name, func(outer *testing.T) {
			t := try(outer)
			t.must(os.WriteFile(t.path+".garbage", filled(10000), 0o600))
			other := place(outer)
			t.must(open(outer, Options{Path: other}).Close())
			t.copy(other, t.path+".other")
			does(outer, t.backend, sample("t", 0))
			t.good(5)
			t.must(t.backend.fold())
			t.settle(".old")
			t.good(5)
			t.must(t.backend.fold())
			t.settle(".now")
			t.unfolded(func() {
				c.harm(t)
				t.must(t.commit(3)) // succeeds, because the version of the part is cached
			})
			refused := func(err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %q", err, c.want)
				}
			}
			t.backend.forget()
			refused(t.backend.fold())
			refused(t.commit(1))
			refused(t.backend.Commit(t.Context(), []*backend.Op{sample("t", 1)}))
			refused(t.backend.Ready(t.Context()))
			_, err := t.backend.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "t"})
			refused(err)
			t.alone(".now")
			t.good(3)
			t.must(t.backend.fold())
			has(outer, t.backend, backend.PartID{Scope: backend.Session, Name: "t"}, 1)
			has(outer, t.backend, backend.PartID{Scope: backend.Session, Name: "s"}, 16)
			t.close()
			t.again()
			t.good(1)
		})
	}
}

// alone replaces the database with the copy that has the given suffix, and removes SQLite's own
// log.
func (t *trial) alone(suffix string) {
	t.Helper()
	t.copy(t.path+suffix, t.path)
	_, _ = os.Remove(t.path+"-wal"), os.Remove(t.path+"-shm")
}

// settle copies the database after everything has been folded. The copy gets the given suffix.
func (t *trial) settle(suffix string) {
	t.Helper()
	db, err := sql.Open("sqlite", t.path)
	t.must(err)
	_, err = db.Exec("VACUUM INTO ?", t.path+suffix)
	t.must(errors.Join(err, db.Close(), os.Chmod(t.path+suffix, 0o600)))
}

// unfolded calls f, and delays each fold until f returns. If a fold failed, commits would be refused.
func (t *trial) unfolded(f func()) {
	t.backend.lockFold()
	defer t.backend.unlockFold()
	f()
}

// forget clears the cached versions of parts, as happens if there are many parts.
func (b *Backend) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.image.versions)
}

// TestLockedDatabase checks that only folding waits while another program has locked the database.
func TestLockedDatabase(outer *testing.T) {
	t := try(outer)
	t.good(1)
	db, err := sql.Open("sqlite", t.path)
	t.must(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN IMMEDIATE")
	t.must(err)
	folded := make(chan error)
	go func() { folded <- t.backend.fold() }()
	t.good(20)
	t.whole()
	_, err = db.Exec("ROLLBACK")
	t.must(errors.Join(err, <-folded))
	t.good(1)
	t.whole()
}

// TestBacklog checks that nothing is committed while too much of the log is not folded.
func TestBacklog(outer *testing.T) {
	t := try(outer)
	t.good(3)
	t.unfolded(func() {
		t.must(os.Rename(t.path, t.path+".away"))
		t.must(t.commit(1))
	})
	t.backend.mu.Lock()
	t.backend.image.bytes += maxBacklog
	t.backend.mu.Unlock()
	_ = t.backend.fold()
	const want = "folding the log into the state database: "
	if err := t.commit(1); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "restore it") {
		t.Errorf("%v, want %q", err, want)
	}
	if err := t.backend.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "restore it") {
		t.Error(err)
	}
	t.must(os.Rename(t.path+".away", t.path))
	t.must(t.backend.Ready(t.Context()))
	t.good(3)
	t.whole()
}

// TestStuckLockHolder checks that nothing is committed while another process holds the process lock
// and does not release it, for example because it was stopped.
func TestStuckLockHolder(outer *testing.T) {
	t := try(outer)
	t.good(1)
	for _, suffix := range []string{"-turn", "-next"} {
		t.rest()
		t.backend.process.timeout = 10 * time.Millisecond
		f := flock.New(t.path + suffix)
		t.must(f.Lock())
		t.refused("another process holds the lock of the state log; if it is suspended, resume it or stop it")
		t.must(f.Close())
		if left := t.backend.process.abandoned; left != nil {
			<-left // the goroutine that has waited in vain for the lock
		}
		t.backend.process.timeout = time.Minute
		t.good(3)
	}
	t.whole()
}

// TestLockFilesRemoved checks that, if the lock files are removed while they are in use, processes
// that had them open still exclude those that did not.
func TestLockFilesRemoved(outer *testing.T) {
	t := try(outer)
	for range 2 {
		t.good(1) // the process keeps the process lock
		t.must(errors.Join(os.Remove(t.path+"-turn"), os.Remove(t.path+"-next")))
		b := t.backend
		b.lockAppend()
		b.process.idle = false
		b.process.yield(time.Now().Add(lease)) // as happens after the next step
		b.unlockAppend()
		other := open(outer, Options{Path: t.path})
		other.lockAppend()
		t.must(other.lockProcess(t.Context()))
		b.process.timeout = 10 * time.Millisecond
		t.refused(errLockTimeout.Error())
		other.unlockAppend()
		other.rest()
		if left := b.process.abandoned; left != nil {
			<-left
		}
		b.process.timeout = time.Minute
		t.good(1)
	}
	t.whole()
}

// TestUnsafeFilesAreRefused checks that a state is not opened if other users could have written to
// its files or its directory, or if one of its files is not a regular file.
func TestUnsafeFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(path string) error
		want    string
		root    bool
	}{
		"directory": {prepare: func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, want: "others may write to the directory"},
		"sticky":    {prepare: func(path string) error { return os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky) }, want: "others may write to the directory"},
		"database":  {prepare: func(path string) error { return os.Chmod(path, 0o660) }, want: "others may write it (mode 0660); chmod 600"},
		"log":       {prepare: func(path string) error { return os.Chmod(path+logSuffix, 0o666) }, want: `-log": others may write it (mode 0666); chmod 600`},
		"witness":   {prepare: func(path string) error { return os.Chmod(path+endSuffix, 0o666) }, want: `-head": others may write it (mode 0666); chmod 600`},
		"log of another": {prepare: func(path string) error { return os.Chown(path+logSuffix, 65534, -1) },
			want: `-log": it belongs to another user`, root: true},
		"database of another": {prepare: func(path string) error { return os.Chown(path, 65534, -1) },
			want: `it belongs to another user`, root: true},
		"link to a log": {prepare: func(path string) error {
			return errors.Join(os.Rename(path+logSuffix, path+"2"), os.Symlink(path+"2", path+logSuffix))
		}, want: `-log" is not a regular file`},
		"link to a database": {prepare: func(path string) error {
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, want: "is not a regular file"},
		"a directory": {prepare: func(path string) error {
			return errors.Join(os.Remove(path+logSuffix), os.Mkdir(path+logSuffix, 0o700))
		}, want: `-log" is not a regular file`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.root && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			path := place(t)
			if err := errors.Join(open(t, Options{Path: path}).Close(), c.prepare(path)); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestFileModes checks that no other user can read the files of a state.
func TestFileModes(t *testing.T) {
	path := place(t)
	b := open(t, Options{Path: path, segment: 2000})
	for n := range 10 {
		does(t, b, sample("s", int64(n)))
	}
	if err := b.fold(); err != nil {
		t.Fatal(err)
	}
	all := files(t, path)
	if len(all) < 8 {
		t.Error(all)
	}
	for _, name := range all {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
}
