package safefile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	for _, c := range []struct {
		mode                os.FileMode
		directory, own, reg bool // is taken
	}{
		{0o700, true, true, true},
		{0o755, true, true, true},
		{0o775, true, false, false},
		{0o777, false, false, false},
		{0o777 | os.ModeSticky, true, false, false},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		file := filepath.Join(dir, "f")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{dir, file} {
			if err := os.Chmod(name, c.mode); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Directory(dir); (err == nil) != c.directory {
			t.Errorf("%v: Directory: %v", c.mode, err)
		}
		if err := OwnDirectory(dir); (err == nil) != c.own {
			t.Errorf("%v: OwnDirectory: %v", c.mode, err)
		}
		if err := Regular(info); (err == nil) != c.reg {
			t.Errorf("%v: Regular: %v", c.mode, err)
		}
		if OwnDirectory(file) == nil || Directory(file) == nil || Directory(filepath.Join(dir, "none")) == nil {
			t.Error("what is no directory is taken for one")
		}
	}
}

// TestReplace: a new file is for its user only, an old one keeps its mode, and a link stays one.
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
