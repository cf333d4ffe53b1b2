package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A TestCommand is a command that probably runs a project's tests. From is the name of the file
// that suggests the command.
type TestCommand struct{ Command, From string }

// TestCommands returns the commands that probably run the tests of the project in dir.
func TestCommands(dir string) (all []TestCommand) {
	add := func(command, from string) { all = append(all, TestCommand{command, from}) }
	text := func(name string) string {
		src, _ := os.ReadFile(filepath.Join(dir, name)) // ignore unreadable files
		return string(src)
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if npmTest([]byte(text("package.json"))) {
		switch {
		case exists("pnpm-lock.yaml"):
			add("pnpm test", "package.json")
		case exists("yarn.lock"):
			add("yarn test", "package.json")
		default:
			add("npm test", "package.json")
		}
	}
	if exists("go.mod") {
		add("go test ./...", "go.mod")
	}
	if exists("Cargo.toml") {
		add("cargo test", "Cargo.toml")
	}
	uses := func(name string) bool { return strings.Contains(text(name), "pytest") }
	if name := list.Find([]string{"pyproject.toml", "pytest.ini", "requirements-dev.txt"}, uses); name != nil {
		add("pytest", *name)
	}
	tests := func(name string) bool { return testTarget.MatchString(text(name)) }
	if name := list.Find([]string{"Makefile", "makefile", "GNUmakefile"}, tests); name != nil {
		add("make test", *name)
	}
	return all
}

// testTarget matches a makefile target named test, but not a variable with that name.
var testTarget = regexp.MustCompile(`(?m)^test[ \t]*:([^=]|$)`)

// npmTest reports whether a package.json file defines tests. The placeholder script written by "npm
// init" does not count.
func npmTest(src []byte) bool {
	var p struct {
		Scripts struct {
			Test string `json:"test"`
		} `json:"scripts"`
	}
	return json.Unmarshal(src, &p) == nil && p.Scripts.Test != "" && !strings.Contains(p.Scripts.Test, "no test specified")
}

var plainWords = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./:@+-]*( [A-Za-z0-9_./:@+-]+)*$`)

// PlainCommand reports whether a command is a single program with its arguments, all of them
// literal words. Test commands in a proposed policy must have this form, because the map statements
// contain them without quotes.
func PlainCommand(command string) bool { return plainWords.MatchString(command) }
