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
		directory, own, reg bool // whether each function accepts it
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
		if err := CheckDirectory(dir); (err == nil) != c.directory {
			t.Errorf("%v: Directory: %v", c.mode, err)
		}
		if err := CheckOwnDirectory(dir); (err == nil) != c.own {
			t.Errorf("%v: OwnDirectory: %v", c.mode, err)
		}
		if err := CheckFile(info); (err == nil) != c.reg {
			t.Errorf("%v: Regular: %v", c.mode, err)
		}
		if CheckOwnDirectory(file) == nil || CheckDirectory(file) == nil || CheckDirectory(filepath.Join(dir, "none")) == nil {
			t.Error("what is no directory is taken for one")
		}
	}
}
