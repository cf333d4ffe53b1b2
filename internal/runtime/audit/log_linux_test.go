package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk runs in a process of its own, whose file size limit cuts a line in the middle, like
// a full disk.
func TestFullDisk(t *testing.T) {
	if path := os.Getenv("AUDIT_FULL_DISK"); path != "" {
		fullDisk(t, path)
		littleRoom(t, path+"2")
		return
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	cmd.Env = append(os.Environ(), "AUDIT_FULL_DISK="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := content(t, path), "{\"seq\":1,\"n\":1}\n{\"seq\":2,\"n\":3}\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q first", got, want)
	}
}

func fullDisk(t *testing.T, path string) {
	l := mustOpen(t, path)
	mustAppend(t, l, `{"n":1}`)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	limit := syscall.Rlimit{Cur: 124, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	for range 3 {
		err := l.Append([]byte(`{"n":2}`))
		if err == nil {
			t.Fatal("a line was accepted that does not fit")
		}
		if got := content(t, path); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") {
			t.Errorf("half a line stayed: %q", got)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, `{"n":3}`)

	if !lend(t, l, `{"n":4}`) {
		return
	}
	mustAppend(t, l, `{"n":5}`)
	limit.Cur = 300
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	l.expire()
	if _, err := l.State(); err == nil {
		t.Error("that records stay on their way is not told")
	}
	if err := l.Append([]byte(`{"n":6}`)); err == nil {
		t.Error("a line was accepted while those before it do not fit")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, `{"n":7}`)
	if got, want := content(t, path), "{\"seq\":1,\"n\":1}\n{\"seq\":2,\"n\":3}\n{\"seq\":3,\"n\":4}\n{\"seq\":4,\"n\":5}\n{\"seq\":5,\"n\":7}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// littleRoom checks that if the disk has space for a small record but not for a decision, no record
// is written and the log gives the reason.
func littleRoom(t *testing.T, path string) {
	l := mustOpen(t, path)
	mustAppend(t, l, `{"n":1}`)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	little := syscall.Rlimit{Cur: uint64(info.Size()) + 200, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte(`{"n":"` + strings.Repeat("x", 300) + `"}`)); err == nil {
		t.Error("a line was accepted that does not fit")
	}
	if err := l.Append([]byte(`{"n":0}`)); err == nil {
		t.Error("a small record is taken for room")
	}
	if _, err := l.State(); err == nil {
		t.Error("that a decision does not fit is not told")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, `{"n":2}`)
	if err := os.WriteFile(path+spaceTestSuffix, nil, 0o600); err != nil { // left by a killed process
		t.Fatal(err)
	}
	if err := testSpace(path+spaceTestSuffix, 1); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path + spaceTestSuffix); err == nil {
		t.Error("what was tried stays")
	}
}

func TestOpenRefusesPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if l, err := Open(path, Rotation{}); err == nil {
		l.Close()
		t.Error("a pipe was opened")
	}
}
