package sqlite

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	witnessSuffix = "-witness"
	witnessEvery  = 10 * time.Second
	witnesses     = 64 // chains that a witness knows
)

// A witness is a file beside the database that says what was in it, so that a copy which
// is older is known for one after a restart. It names only what was on the disk when it
// was written: a loss of power may not make the database look old.
type witness struct {
	written time.Time
	seq     uint64 // of the chain of this process, in the file
}

// A testimony is the content of the file: ends of chains, the newest first.
type testimony struct {
	Heads []testified `json:"heads"`
}

type testified struct {
	Writer string    `json:"writer"`
	Seq    uint64    `json:"seq"`
	Hash   string    `json:"hash"`
	Time   time.Time `json:"time"`
}

func readTestimony(path string) (t testimony, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return t, fmt.Errorf("reading %q, which says what was in the database: %w; if the database is the newest, remove that file", path, err)
	}
	return t, nil
}

// check compares the database, which may have nothing in it yet, with what the file says.
func (w *witness) check(s *scribe, empty bool) error {
	t, err := readTestimony(s.path + witnessSuffix)
	if err != nil {
		return err
	}
	for _, h := range t.Heads {
		if empty {
			return s.rolledBack(h.Writer, h.Seq)
		}
		var hash []byte
		const one = "SELECT hash FROM record WHERE writer = (SELECT id FROM writer WHERE name = ?) AND seq = ?"
		if _, err := s.link.row(one, []any{h.Writer, int64(h.Seq)}, &hash); err != nil {
			return err
		}
		if hex.EncodeToString(hash) != h.Hash {
			return s.rolledBack(h.Writer, h.Seq)
		}
	}
	return nil
}

// prove writes the file after the first commit, if it is due, or at the end. It needs the
// turn. That it fails makes the next process less watchful, and is no reason to refuse
// anything.
func (s *scribe) prove(last bool) {
	w := &s.proof
	now := time.Now()
	if s.chain.seq == w.seq || !last && now.Sub(w.written) < witnessEvery {
		return
	}
	w.written = now
	s.proved(s.testify())
}

// insist names the end of the chain of this process, which the database turned out to lack
// while the process was running: that it is an older one is known after a restart, too. It
// needs the turn.
func (s *scribe) insist() {
	if s.chain.seq != s.proof.seq {
		s.proved(s.attest())
	}
}

func (s *scribe) proved(err error) {
	if err != nil {
		s.log.Warn("the witness of the state database cannot be written; a copy of it that is older than this will not be known after a restart",
			"file", s.path+witnessSuffix, "error", err)
		return
	}
	s.proof.seq = s.chain.seq
}

// touch writes something, which brings all to the disk that was committed before, and
// shows that the database can be written.
func touch(l *link) error {
	_, err := l.exec("UPDATE counter SET value = value + 1 WHERE name = 'witnessed'")
	return err
}

// testify first makes sure that all is on the disk.
func (s *scribe) testify() error {
	err := s.commit(true, func(tx *transaction) (bool, error) { return true, touch(tx.link) })
	if err != nil {
		return err
	}
	return s.attest()
}

// attest writes the file.
func (s *scribe) attest() error {
	path := s.path + witnessSuffix
	t, err := readTestimony(path)
	if err != nil {
		return err
	}
	t.Heads = slices.DeleteFunc(t.Heads, func(h testified) bool { return h.Writer == s.name })
	own := testified{s.name, s.chain.seq, hex.EncodeToString(s.chain.hash[:]), s.now().UTC()}
	t.Heads = append([]testified{own}, t.Heads...)
	t.Heads = t.Heads[:min(len(t.Heads), witnesses)]
	return t.write(path)
}

func (t *testimony) write(path string) error {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return replace(path, append(data, '\n'))
}

// replace writes a file whole, or leaves it as it was, also when the power goes.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
