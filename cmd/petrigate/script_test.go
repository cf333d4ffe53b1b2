package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/petrigate/petrigate/internal/testserver"
)

var updateScripts = flag.Bool("update-scripts", false, "rewrite the files that scripts compare with")

// TestMain lets scripts run this test binary as petrigate, as a browser, or as an MCP server.
func TestMain(m *testing.M) {
	if len(os.TempDir()) > 16 { // otherwise, socket paths would be too long
		_ = os.Setenv("TMPDIR", "/tmp")
	}
	if runtime.GOMAXPROCS(0) < 4 { // most tests wait for processes
		_ = flag.Set("test.parallel", "4")
	}
	if signal.Ignored(syscall.SIGHUP) { // as under nohup; petrigate would inherit it, and ignore SIGHUP too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	debug.SetGCPercent(400) // with the default of 100, garbage collection takes a sixth of the time
	testscript.Main(m, map[string]func(){
		"petrigate": main, "browse": browse,
		"testserver": serveScript,
	})
}

// TestScripts runs testdata/script. Each file acts as a user at a terminal, with agents that are
// connected to proxies in the background.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are written for a Unix system")
	}
	t.Setenv("GOTMPDIR", scriptDir(t))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *updateScripts,
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{
				"PETRIGATE_RUNTIME_DIR": filepath.Join(e.WorkDir, "run"),
				"XDG_STATE_HOME":        filepath.Join(e.WorkDir, "state"),
				"XDG_CONFIG_HOME":       filepath.Join(e.WorkDir, "xdg"),
				"USER":                  "ann",
				"SUDO_USER":             "",
				"PETRIGATE_CONFIG":      "",
				"GORACE":                "atexit_sleep_ms=0", // otherwise, each process would end a second later
				"GOGC":                  "400",               // less garbage collection, because there are hundreds of short-lived processes
				"PETRIGATE_STARTUP":     "5m",                // on a busy machine a server may start slowly
			} {
				e.Setenv(name, value)
			}
			e.Defer(func() { // runs after the proxies have ended
				if left := processesOf(e.WorkDir); len(left) > 0 {
					e.T().Fatal("processes are left: ", left)
				}
			})
			nameDatabase(e)
			e.Values[agentsKey{}] = map[string]*scriptAgent{}
			e.Values[authKey{}] = map[string]*authSite{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "postgres":
				return hasPostgres(), nil
			case "usermanager":
				return hasUserManager(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"capture": capture,
			"occupy":  occupy,
			"proxy":   startProxy,
			"mcp":     sendFile,
			"hello":   sayHello,
			"call":    makeCall,
			"cast":    castCall,
			"reply":   awaitReply,
			"heard":   awaitText,
			"hangup":  hangUp,
			"raise":   raise,
			"certify": certify,
			"fetch":   fetch,
			"events":  playEvents,
			"publish": publish,

			"authserver": startAuthServer,
			"tokens":     handleTokens,
			"visit":      visit,
			"paste":      paste,
			"secretless": secretless,

			"usermanager": userManager,
		},
	})
}

// hasPostgres reports whether the tests may use a PostgreSQL server and its programs are installed.
func hasPostgres() bool {
	for _, program := range []string{"psql", "pg_dump", "pg_restore"} {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	return os.Getenv("PETRIGATE_TEST_POSTGRES") != ""
}

// nameDatabase sets ADMIN, DATABASE and DSN in a script: the connection string of the test server,
// the name of a database that no other script uses, and the connection string of that database.
func nameDatabase(e *testscript.Env) {
	admin := os.Getenv("PETRIGATE_TEST_POSTGRES")
	name := fmt.Sprintf("scripts_%d_%x", os.Getpid(), time.Now().UnixNano())
	e.Setenv("ADMIN", admin)
	e.Setenv("DATABASE", name)
	e.Setenv("DSN", admin+" dbname="+name) // the last dbname counts
}

// scriptDir creates a directory that will contain the directories of the scripts. If -run selects
// only some scripts, testscript leaves the common directory behind, empty; scriptDir removes it.
func scriptDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(dir, "*")) // cannot fail: the pattern is valid
		for _, path := range append(left, dir) {
			_ = os.Remove(path) // removes the directory only if it is empty, because -testwork keeps the scripts' files
		}
	})
	return dir
}

// processesOf finds processes whose environment contains a script's directory. If /proc does not
// exist, it finds none.
func processesOf(dir string) []string {
	var left []string
	found, _ := filepath.Glob("/proc/[0-9]*/environ") // cannot fail: the pattern is valid
	for _, path := range found {
		// The slash matters, because the name of one script may be a prefix of another.
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(dir+"/")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // the process may have ended
			left = append(left, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return left
}

// exits implements the script command "exits CODE PROGRAM ARGS...", which runs a program that must
// end with the given exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(argument(ts, neg, args, 2))
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	got := 0
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture implements the script command "capture NAME REGEXP", which sets a variable to the first
// group of the match in the last output.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	name := argument(ts, neg, args, 2)
	match := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(match) < 2 {
		ts.Fatalf("no match for %q", args[1])
	}
	ts.Setenv(name, match[1])
}

// occupy implements the script command "occupy NAME", which sets a variable to an address that is
// already in use.
func occupy(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(argument(ts, neg, args, 1), l.Addr().String())
}

// certify implements the script command "certify NAME [expired]", which writes a certificate for
// this machine, and its key.
func certify(ts *testscript.TestScript, neg bool, args []string) {
	valid := time.Hour
	if len(args) == 2 && args[1] == "expired" {
		args, valid = args[:1], time.Until(time.Date(2020, 1, 2, 12, 0, 0, 0, time.UTC))
	}
	ts.Check(testserver.Certify(ts.MkAbs(argument(ts, neg, args, 1)), 1, valid))
}

// argument returns the first argument. It fails unless there are at least n arguments.
func argument(ts *testscript.TestScript, neg bool, args []string, n int) string {
	if neg || len(args) < n {
		ts.Fatalf("wants %d arguments, and no !", n)
	}
	return args[0]
}

// program returns the path of a program in the script's PATH.
func program(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	ts.Fatalf("no program %s", name)
	return ""
}
