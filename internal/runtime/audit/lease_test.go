package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// lent returns a log with a lease that does not end by itself, and three records: one in the file
// and two in the pending file.
func lent(t *testing.T) (*Log, string) {
	t.Helper()
	l, path := tempLog(t)
	mustAppend(t, l, `{"n":1}`)
	if !lend(t, l, `{"n":2}`) {
		t.Skip("there are no leases here")
	}
	mustAppend(t, l, `{"n":3}`)
	if got := content(t, path); got != "{\"seq\":1,\"n\":1}\n" {
		t.Fatalf("the file has %q", got)
	}
	return l, path
}

// lend appends a record that starts a lease.
func lend(t *testing.T, l *Log, record string) bool {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease.ended = func() {} // the test ends the lease
	if err := l.withLock(func() error { return l.append([][]byte{[]byte(record)}, true) }); err != nil {
		t.Fatal(err)
	}
	return l.lease.held
}

// kill leaves the files as a killed process would.
func kill(l *Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.Close()
	l.head.close()
	if l.pending != nil {
		l.pending.close()
	}
	l.file = nil
}

const three = "{\"seq\":1,\"n\":1}\n{\"seq\":2,\"n\":2}\n{\"seq\":3,\"n\":3}\n"

// known returns the lines that a reader finds: those in the file and the pending ones.
func known(t *testing.T, path string) string {
	t.Helper()
	pending, err := Pending(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last, err := lastLine(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(pending) {
		if p, err := ParseLine(bytes.TrimSuffix(line, []byte("\n"))); err != nil || p.Seq > last.Seq {
			file = append(file, line...)
		}
	}
	return hashes.ReplaceAllString(string(file), "}\n")
}

func left(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path + PendingSuffix)
	return err == nil
}

// TestLease checks that appended records count at once, are in the file when the lease ends, and
// leave no pending file behind.
func TestLease(t *testing.T) {
	l, path := lent(t)
	if got := known(t, path); got != three {
		t.Errorf("a reader finds %q", got)
	}
	if last, err := l.State(); last != 3 || err != nil {
		t.Errorf("%d, %v", last, err)
	}
	l.expire()
	if got := content(t, path); got != three || known(t, path) != three {
		t.Errorf("the file has %q", got)
	}
	if !lend(t, l, `{"n":4}`) {
		t.Error("no other lease follows")
	}
	if err := l.Close(); err != nil || left(t, path) || content(t, path) != three+"{\"seq\":4,\"n\":4}\n" {
		t.Errorf("%v, a room is left: %v, %q", err, left(t, path), content(t, path))
	}
	l.expire() // as if the timer fired late
	chain(t, path)
}

// TestBusy checks that frequent appends start a lease, which ends by itself, and that rare appends
// do not.
func TestBusy(t *testing.T) {
	var b lease
	now := time.Now()
	for i := range 100 {
		if b.busy(now.Add(time.Duration(i) * leaseTime / (leaseFrom - 1))) {
			t.Fatalf("after %d", i)
		}
	}
	for i := range 3 * leaseFrom {
		if busy := b.busy(now); busy != (i >= leaseFrom) {
			t.Fatalf("%d: %v", i, busy)
		}
	}
	if !b.busy(now.Add(leaseTime + 1)) {
		t.Error("it was busy right before")
	}
	if b.busy(now.Add(4*leaseTime)) || b.busy(now.Add(-time.Hour)) {
		t.Error("it was busy long ago")
	}

	l, path := tempLog(t)
	records := 0
	for records < 10_000 && !left(t, path) {
		mustAppend(t, l, `{}`)
		records++
	}
	if !left(t, path) {
		t.Skip("there are no leases here")
	}
	for strings.Count(content(t, path), "\n") < records {
		runtime.Gosched() // the lease ends by itself
	}
}

// TestLeaseKilled checks that the next process moves a killed process's pending lines to the log,
// however many of them the log already has.
func TestLeaseKilled(t *testing.T) {
	tests := []struct {
		name string
		had  func(pending []byte) []byte // part that was already written to the log
	}{
		{"before it was moved", func([]byte) []byte { return nil }},
		{"in the middle of a line", func(p []byte) []byte { return p[:20] }},
		{"between two lines", func(p []byte) []byte { return p[:bytes.IndexByte(p, '\n')+1] }},
		{"in the middle of the last line", func(p []byte) []byte { return p[:len(p)-1] }},
		{"once it was moved", func(p []byte) []byte { return p }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, path := lent(t)
			kill(l)
			pending, err := Pending(path)
			if err != nil || len(pending) == 0 {
				t.Fatalf("%q, %v", pending, err)
			}
			extend(t, path, test.had(pending))
			next := mustOpen(t, path)
			if cut := next.Cut(); cut != "" {
				t.Errorf("it misses %s", cut)
			}
			if got := known(t, path); got != three {
				t.Errorf("opened, the log has %q", got)
			}
			mustAppend(t, next, `{"n":4}`)
			if err := next.Close(); err != nil || left(t, path) || len(chain(t, path)) != 4 {
				t.Errorf("%v, %q", err, content(t, path))
			}
		})
	}
}

func extend(t *testing.T, path string, text []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
}

// TestLeaseReplaced checks that pending lines follow other records that have taken their place in
// the log.
func TestLeaseReplaced(t *testing.T) {
	l, path := lent(t)
	kill(l)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at, err := lastLine(file)
	if err != nil {
		t.Fatal(err)
	}
	end := at.place()
	extend(t, path, end.append(nil, []byte(`{"other":1}`)))
	mustOpen(t, path)
	want := "{\"seq\":1,\"n\":1}\n{\"seq\":2,\"other\":1}\n{\"seq\":3,\"n\":2}\n{\"seq\":4,\"n\":3}\n"
	if got := content(t, path); got != want || len(chain(t, path)) != 4 {
		t.Errorf("got %q", got)
	}
}

// TestRoomChanged checks that invalid data in the pending file is reported, and that the lines
// before it are kept.
func TestRoomChanged(t *testing.T) {
	l, path := lent(t)
	kill(l)
	pending, err := Pending(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path+PendingSuffix, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("junk"), pendingLines+int64(bytes.IndexByte(pending, '\n'))+1); err != nil {
		t.Fatal(err)
	}
	f.Close()
	next := mustOpen(t, path)
	if got := content(t, path); got != "{\"seq\":1,\"n\":1}\n{\"seq\":2,\"n\":2}\n" || !strings.Contains(next.Cut(), "bytes of its reserved space") {
		t.Errorf("got %q, missing %q", got, next.Cut())
	}
}

// TestRoomTaken checks that a process loses no records if its pending file is emptied or removed
// while it runs, and that it creates a new one.
func TestRoomTaken(t *testing.T) {
	for name, take := range map[string]func(string) error{
		"emptied": func(room string) error { return os.Truncate(room, 0) },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			l, path := lent(t)
			if err := take(path + PendingSuffix); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, l, `{"n":4}`)
			l.expire()
			if got := content(t, path); got != three+"{\"seq\":4,\"n\":4}\n" {
				t.Errorf("got %q", got)
			}
			if !lend(t, l, `{"n":5}`) {
				t.Error("no other lease follows")
			}
			kill(l)
			mustOpen(t, path)
			if len(chain(t, path)) != 5 {
				t.Errorf("got %q", content(t, path))
			}
		})
	}
}

// TestLeaseShared checks that a process that opens the log during a lease waits for the lease's
// end, and that no lease starts while several processes have the log open.
func TestLeaseShared(t *testing.T) {
	l, path := lent(t)
	opened := make(chan *Log)
	go func() {
		other, err := Open(path, Rotation{})
		if err != nil {
			t.Error(err)
		}
		opened <- other
	}()
	l.expire()
	other := <-opened
	if got := content(t, path); got != three {
		t.Errorf("got %q", got)
	}
	if lend(t, l, `{"n":4}`) || lend(t, other, `{"n":5}`) {
		t.Error("one of two has a lease")
	}
	l.lease.never, other.lease.never = time.Time{}, time.Time{}
	if err := other.Close(); err != nil || !left(t, path) {
		t.Errorf("%v, the room is left: %v", err, left(t, path))
	}
	if !lend(t, l, `{"n":6}`) {
		t.Error("the one that stays has none")
	}
	if err := l.Close(); err != nil || left(t, path) || len(chain(t, path)) != 6 {
		t.Errorf("%v, %q", err, content(t, path))
	}
}

// TestLeaseFull checks that a lease ends if the pending file or the log is full.
func TestLeaseFull(t *testing.T) {
	l, path := lent(t)
	long := `{"long":"` + strings.Repeat("x", pendingSize) + `"}`
	mustAppend(t, l, long)
	if lines := strings.Count(content(t, path), "\n"); lines != 4 || l.lease.held {
		t.Errorf("%d lines, a lease is held: %v", lines, l.lease.held)
	}
	if lend(t, l, long) {
		t.Error("a lease began with a line for which there is no room")
	}
	if len(chain(t, path)) != 5 {
		t.Error("not all records are on the chain")
	}

	path = filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(path, Rotation{Size: 500})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		lend(t, l, fmt.Sprintf(`{"n":%d}`, i))
		mustAppend(t, l, fmt.Sprintf(`{"and":%d}`, i))
		l.expire()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	aside, err := RotatedFiles(path)
	if err != nil || len(aside) < 5 {
		t.Fatal(aside, err)
	}
	var all []string
	for _, name := range append(aside, path) {
		for line := range strings.Lines(content(t, name)) {
			if _, record, _ := strings.Cut(line, ","); strings.Contains(record, "n") && !strings.Contains(record, "event") {
				all = append(all, record)
			}
		}
	}
	var want []string
	for i := range 30 {
		want = append(want, fmt.Sprintf("\"n\":%d}\n", i), fmt.Sprintf("\"and\":%d}\n", i))
	}
	if !slices.Equal(all, want) {
		t.Errorf("%d records: %q", len(all), all)
	}
}

// TestLeaseOfRemoved checks that the end of a lease reports that the log was removed, and keeps its
// lines in the pending file.
func TestLeaseOfRemoved(t *testing.T) {
	l, path := lent(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l.expire()
	l.lease.timer.Stop()
	if _, err := l.State(); err == nil || !strings.Contains(err.Error(), "removed") {
		t.Errorf("got %v", err)
	}
	if err := l.Append([]byte(`{}`)); err == nil {
		t.Error("a record went to a file that has no name")
	}
	if err := l.Close(); err == nil {
		t.Error("the records that are not in the log are not told of")
	}
	if pending, err := Pending(path); bytes.Count(pending, []byte("\n")) != 2 || err != nil {
		t.Errorf("%q, %v", pending, err)
	}
}
