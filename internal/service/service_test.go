package service

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// user returns a user of the given system and home folder.
func user(system, home string) System {
	return System{OS: system, Home: home, UID: 501, Env: func(name string) (string, bool) {
		value, ok := map[string]string{"USERDOMAIN": "LAPTOP", "USERNAME": "ann & co"}[name]
		return value, ok
	}}
}

// oddService has paths and values with characters that are special to the managers.
var oddService = Service{
	Program:     "/opt/a %h $x & <y>/petrigate",
	Args:        []string{"serve", "--config", "/home/ann/q\"'--\\n %n $HOME ${X} $$ ; & </string> [1]*/\x01\xff\n.yaml"},
	Config:      "/home/ann/q\"'--\\n %n $HOME ${X} $$ ; & </string> [1]*/\x01\xff\n.yaml",
	Environment: []Variable{{"PETRIGATE_RUNTIME_DIR", "/run/user/1/a b"}, {"PATH", "/usr/bin:/home/ann/50% \"x\"/$bin"}},
}

// xmlService returns oddService without the characters that XML cannot represent.
func xmlService() Service {
	s := oddService
	s.Config = strings.NewReplacer("\x01", "", "\xff", "", "\n", "").Replace(s.Config)
	s.Args = []string{"serve", "--config", s.Config}
	return s
}

// windowsService has paths of Windows.
var windowsService = Service{
	Program: `C:\Program Files\petrigate\petrigate.exe`,
	Args:    []string{"serve", "--http", "127.0.0.1:7777", "--config", `C:\Users\Ann & Bob\50%--$x\petrigate.yaml`},
	Config:  `C:\Users\Ann & Bob\50%--$x\petrigate.yaml`,
}

// TestServiceFilesMatchGolden compares the files for all managers with the golden files, and reads
// the configuration back from each.
func TestServiceFilesMatchGolden(t *testing.T) {
	for name, c := range map[string]struct {
		system string
		s      Service
	}{
		"systemd.service": {"linux", oddService}, "launchd.plist": {"darwin", xmlService()}, "task.xml": {"windows", windowsService},
	} {
		m := ManagerOf(user(c.system, "/home/ann %u & co"))
		got, err := m.Text(c.s)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		m.File = filepath.Join(t.TempDir(), "new", name)
		if err := m.write(got); err != nil {
			t.Fatal(err)
		}
		if i, err := m.Installed(); err != nil || i.Config != c.s.Config || i.Text != got {
			t.Errorf("%s: the configuration is %q, %v", name, i.Config, err)
		}
	}
}

// TestXMLRoundTrip checks that an XML parser reads the same values back.
func TestXMLRoundTrip(t *testing.T) {
	var plist struct {
		Array struct {
			String []string `xml:"string"`
		} `xml:"dict>array"`
		Environment struct {
			Key    []string `xml:"key"`
			String []string `xml:"string"`
		} `xml:"dict>dict"`
	}
	s := xmlService()
	text, err := ManagerOf(user("darwin", "/Users/ann")).Text(s)
	if err != nil || xml.Unmarshal([]byte(text), &plist) != nil {
		t.Fatal(err, text)
	}
	if got := plist.Array.String; !slices.Equal(got, append([]string{s.Program}, s.Args...)) {
		t.Errorf("%q", got)
	}
	if got := plist.Environment.String; got[1] != s.Environment[1].Value {
		t.Errorf("%q", got)
	}
	var task struct {
		User      string `xml:"Triggers>LogonTrigger>UserId"`
		Command   string `xml:"Actions>Exec>Command"`
		Arguments string `xml:"Actions>Exec>Arguments"`
	}
	text, err = ManagerOf(user("windows", `C:\Users\ann`)).Text(windowsService)
	_, body, _ := strings.Cut(text, "\n") // the file declares UTF-16, but text is UTF-8
	if err != nil || xml.Unmarshal([]byte(body), &task) != nil {
		t.Fatal(err, text)
	}
	if task.User != `LAPTOP\ann & co` || task.Command != windowsService.Program || task.Arguments != `serve --http 127.0.0.1:7777 --config "`+windowsService.Config+`"` {
		t.Errorf("%+v", task)
	}
}

// TestUnsupportedPathsAreRefused checks that a service is refused if the manager could not start it
// unchanged.
func TestUnsupportedPathsAreRefused(t *testing.T) {
	for _, c := range []struct{ system, program, config, want string }{
		{"linux", `/opt/"x"/petrigate`, "/c", `systemd cannot start a program with a quote or a backslash in its path: /opt/"x"/petrigate`},
		{"linux", "/petrigate", "/a\x00b", "a path contains a zero byte"},
		{"darwin", "/petrigate", "/a\x01b", `an XML file cannot contain "/a\x01b"`},
		{"darwin", "/petrigate", "/a\xffb", `an XML file cannot contain "/a\xffb"`},
		{"windows", `C:\p.exe`, `C:\%USERNAME%\c`, `the Task Scheduler would replace a part of "C:\\%USERNAME%\\c"`},
		{"windows", `C:\p.exe`, `C:\$(Arg0)\c`, `the Task Scheduler would replace a part of "C:\\$(Arg0)\\c"`},
		{"windows", `C:\p.exe`, "C:\\\x01", `an XML file cannot contain "serve C:\\\x01"`},
	} {
		text, err := ManagerOf(user(c.system, "/home/ann")).Text(Service{Program: c.program, Args: []string{"serve", c.config}, Config: c.config})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if m := ManagerOf(user("plan9", "/")); m != nil {
		t.Errorf("%+v", m)
	}
}

// TestManagerPathsAndCommands checks the paths of files and the commands of each manager.
func TestManagerPathsAndCommands(t *testing.T) {
	for _, c := range []struct{ system, file, start string }{
		{"linux", "/home/ann/.config/systemd/user/petrigate.service", "systemctl --user daemon-reload; systemctl --user enable --quiet FILE; systemctl --user restart petrigate.service"},
		{"darwin", "/home/ann/Library/LaunchAgents/petrigate.plist", "launchctl bootout gui/501/petrigate; launchctl bootstrap gui/501 FILE"},
		{"windows", "/home/ann/AppData/Roaming/petrigate/task.xml", "schtasks /End /TN petrigate; schtasks /Create /TN petrigate /XML FILE /F; schtasks /Run /TN petrigate"},
	} {
		m := ManagerOf(user(c.system, "/home/ann"))
		var lines []string
		for _, s := range m.start {
			lines = append(lines, strings.Join(s.argv, " "))
		}
		if start := strings.ReplaceAll(strings.Join(lines, "; "), m.File, "FILE"); filepath.ToSlash(m.File) != c.file || start != c.start {
			t.Errorf("%s\n%s", m.File, start)
		}
	}
	s := user("linux", "/home/ann")
	s.Env = func(name string) (string, bool) { return map[string]string{"XDG_CONFIG_HOME": "/x"}[name], true }
	if m := ManagerOf(s); filepath.ToSlash(m.File) != "/x/systemd/user/petrigate.service" || filepath.ToSlash(m.Variables) != "/x/petrigate/environment" {
		t.Errorf("%+v", m)
	}
}

// TestVariableNames checks that variables are found in the output of managers and in the
// environment file.
func TestVariableNames(t *testing.T) {
	const said = "A=1\nB=$'x\\ny'\n# C=1\n\tD => 2\n    E    REG_SZ    v\n F = 3\nno name\n"
	if got := variableNames(said); !slices.Equal(got, []string{"A", "B", "D", "E", "F"}) {
		t.Errorf("%q", got)
	}
}

// TestStepsRetryAndIgnoreFailures checks that a retried command is run again, that the failure of a
// lenient command is ignored, and that any other failure yields the first line of the command's
// error output.
func TestStepsRetryAndIgnoreFailures(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix system")
	}
	there := filepath.Join(t.TempDir(), "there")
	sh := func(script string) []string { return []string{"sh", "-c", script, "sh", there} }
	for _, c := range []struct {
		steps []step
		want  string
	}{
		{[]step{{argv: sh(`test -e "$1" || { touch "$1"; exit 1; }`), retried: true}, {argv: sh(`rm "$1"`)}}, ""},
		{[]step{{argv: sh("exit 1"), lenient: true}, {argv: sh("exit 0")}}, ""},
		{[]step{{argv: []string{"sh", "-c", "printf 'no\\nbus\\n' >&2; exit 1"}}}, `sh -c printf 'no\nbus\n' >&2; exit 1: no`},
		{[]step{{argv: []string{"false"}}, {argv: sh(`touch "$1"`)}}, "false: exit status 1"},
	} {
		said := ""
		if err := runAll(t.Context(), c.steps); err != nil {
			said = err.Error()
		}
		if said != c.want {
			t.Errorf("%q, want %q", said, c.want)
		}
		if _, err := os.Stat(there); err == nil {
			t.Errorf("a step came after one that failed, or was not made")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runAll(ctx, []step{{argv: sh("exit 1"), retried: true}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestInstallPageShowsFiles checks that docs/install.md shows the generated files.
func TestInstallPageShowsFiles(t *testing.T) {
	src, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(src)
	for system, home := range map[string]string{"linux": "/home/ME", "darwin": "/Users/ME"} {
		config := home + "/.config/petrigate/petrigate.yaml"
		text, err := ManagerOf(user(system, home)).Text(Service{
			Program: "/usr/local/bin/petrigate", Args: []string{"serve", "--http", "127.0.0.1:7777", "--config", config}, Config: config,
		})
		if err != nil || !strings.Contains(page, "\n"+text+"```\n") {
			t.Errorf("%v: the page has not\n%s", err, text)
		}
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		m := ManagerOf(user(system, "~"))
		for _, s := range slices.Concat(m.start, m.stop) {
			words := strings.Join(s.argv[:min(3, len(s.argv))], " ")
			if last := regexp.MustCompile(`gui/501.*`); !strings.Contains(page, strings.TrimSpace(last.ReplaceAllString(words, ""))) {
				t.Errorf("%q is not on the page", words)
			}
		}
	}
}
