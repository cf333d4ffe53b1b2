package textfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	fmt.Println(Replace("none.rules", nil))
	// Output: writing none.rules: no such file or directory
}

func ExampleCreate() {
	fmt.Println(Create("textfile.go", nil))
	// Output: writing textfile.go: file exists
}

// TestReplace: mode and link stay, and nothing is left beside the file.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.rules"), filepath.Join(dir, "link.rules")
	if err := Create(file, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.rules", link); err != nil {
		t.Skip(err)
	}
	if err := Replace(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	if err != nil || string(src) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v", src, info.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Error("left:", strings.Join(left, " "))
	}
}
