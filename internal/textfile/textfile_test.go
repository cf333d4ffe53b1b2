package textfile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func ExampleDiff() {
	fmt.Printf("%s", Diff("a", []byte("x\n"), "b", []byte("x\ny\n")))
	// Output:
	// diff a b
	// --- a
	// +++ b
	// @@ -1,1 +1,2 @@
	//  x
	// +y
}

func ExampleReplace() {
	fmt.Println(Replace("none/a.rules", nil))
	// Output: writing none/a.rules: no such file or directory
}

func ExampleCreate() {
	fmt.Println(Create("textfile.go", nil))
	// Output: writing textfile.go: file exists
}

// TestReplace checks that a new file is private, that an old one keeps its mode, and that a
// symbolic link stays one.
func TestReplace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for i, mode := range []os.FileMode{0o600, 0o644} {
		if i > 0 {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := Replace(map[int]string{0: file, 1: link}[i], []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		src, _ := os.ReadFile(file)
		if err != nil || info.Mode() != mode || len(src) != 1 || src[0] != byte(i) {
			t.Errorf("%d: %v %v %v", i, info.Mode(), src, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%v are left", left)
	}
	if err := Replace(filepath.Join(dir, "none", "f"), nil); err == nil {
		t.Error("a file in no directory was written")
	}
}

// TestReplacePrivate checks that new files, and files that others could read, become private.
func TestReplacePrivate(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := Create(old, []byte("old")); err != nil {
		t.Fatal(err)
	}
	for file, write := range map[string]func(string, []byte) error{old: ReplacePrivate, filepath.Join(dir, "one"): ReplacePrivate, filepath.Join(dir, "other"): Replace} {
		if err := write(file, []byte("new")); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(file)
		info, _ := os.Stat(file)
		if err != nil || string(src) != "new" || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %q, %v, %v", file, src, info.Mode(), err)
		}
	}
}

// TestLocked checks that no second process enters meanwhile, and that the error names the file.
func TestLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "f")
	var inside, count atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			err := Locked(file, func() error {
				count.Add(1)
				defer inside.Add(-1)
				if inside.Add(1) != 1 {
					t.Error("two are inside")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if count.Load() != 4 {
		t.Errorf("%d of 4 ran", count.Load())
	}
	if err := Locked(filepath.Join(file+".lock", "f"), nil); err == nil {
		t.Error("there is a lock below a file")
	}
}
