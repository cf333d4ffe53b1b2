package journal

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// moved returns a state whose log contains steps of all kinds. All of them have been folded.
func moved(t *testing.T, path string) *Backend {
	t.Helper()
	b := open(t, Options{Path: path})
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	session, global := backend.PartID{Scope: backend.Session, Name: "s\x00\xff"}, backend.PartID{Scope: backend.Global}
	ops := []*backend.Op{
		{Time: at, Writes: []backend.Write{{ID: session, Data: []byte(`{"v":1,"last":1}`), Values: map[string][]byte{"k": []byte(`{"a":1}`)}}},
			Events: []backend.Event{{Time: at, Session: session.Name, Object: []byte(`{"event":"decision"}`)}, {Time: at, Object: []byte(`{"n":1}`)}}},
		{Time: at, Writes: []backend.Write{{ID: session, Version: 1, Change: []byte(`{"last":2,"nets":{"n":{"x":1}}}`)}, {ID: global, Data: []byte(`{"v":1}`)}}},
		{Time: at, Writes: []backend.Write{{ID: backend.PartID{Scope: "round", Name: "r"}, Data: []byte("{\n}")}}},
	}
	if _, err := b.PutApproval(t.Context(), backend.Approval{ID: "q", Key: "k", State: backend.Approved, Created: at, Expires: at.Add(time.Hour), Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	ops = append(ops, &backend.Op{Time: at, Reserve: true, Uses: "q"})
	if err := commit(t.Context(), b, ops...); err != nil {
		t.Fatal(err)
	}
	if err := b.SetStop(t.Context(), backend.Stop{Session: "other", Actor: "me", Reason: "doubt", Time: at}, true); err != nil {
		t.Fatal(err)
	}
	if err := b.fold(); err != nil {
		t.Fatal(err)
	}
	return b
}

// damaged fails the test unless b finds damage.
func damaged(t *testing.T, b *Backend, how string) {
	t.Helper()
	if file, what, err := b.Damage(t.Context()); what == "" || file == "" || err != nil {
		t.Errorf("%s: %q, %q, %v", how, file, what, err)
	}
}

// TestEveryByteOfTheLog checks that a change to any byte of the log is detected, both in records
// and in changes of the state.
func TestEveryByteOfTheLog(t *testing.T) {
	t.Parallel()
	path := place(t)
	b := moved(t, path)
	if file, what, err := b.Damage(t.Context()); what != "" || err != nil {
		t.Fatal(file, what, err)
	}
	log, err := os.ReadFile(path + logSuffix)
	if err != nil {
		t.Fatal(err)
	}
	log = trimPadding(log)
	f, err := os.OpenFile(path+logSuffix, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := range log {
		for _, bit := range []byte{1, 0x20} {
			if _, err := f.WriteAt([]byte{log[at] ^ bit}, int64(at)); err != nil {
				t.Fatal(err)
			}
			damaged(t, b, "byte "+string(log[at]))
		}
		if _, err := f.WriteAt(log[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, cut := range [][]byte{log[:len(log)-1], log[:strings.LastIndex(string(log[:len(log)-1]), "\n")+1], nil} {
		if err := os.WriteFile(path+logSuffix, cut, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged(t, b, "cut")
	}
	if err := os.WriteFile(path+logSuffix, log, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, what, err := b.Damage(t.Context()); what != "" || err != nil {
		t.Error(what, err)
	}
}

// TestChangedCheckpoint checks that a difference between the checkpoint and the log is detected,
// for example in a part or a stop.
func TestChangedCheckpoint(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		`UPDATE part SET data = '{"v":1,"last":3}' WHERE scope = 'session'`, `UPDATE part SET version = 7 WHERE scope = 'global'`,
		`DELETE FROM part WHERE scope = 'round'`, `UPDATE part_value SET data = '{"a":2}'`, `DELETE FROM part_value`,
		`DELETE FROM stop`, `UPDATE stop SET time = 5`, `UPDATE place SET hash = zeroblob(32)`,
	} {
		path := place(t)
		b := moved(t, path)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(change)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		damaged(t, b, change)
	}
}
