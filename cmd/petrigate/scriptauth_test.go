package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/testserver"
)

type authKey struct{}

// An authSite is an authorization server, and how to close it.
type authSite struct {
	*authserver.Server
	close func()
}

// browse is a program that stands in for the browser: it opens the page and
// goes where that sends it.
func browse() {
	response, err := http.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer response.Body.Close()
	_, _ = io.Copy(os.Stdout, response.Body)
}

// visit args...: runs petrigate with these arguments, opens the address that it
// prints, and waits for its end.
func visit(ts *testscript.TestScript, neg bool, args []string) {
	argument(ts, neg, args, 1)
	c := exec.Command(program(ts, "petrigate"), args...)
	c.Dir, c.Env, c.Stderr = ts.MkAbs("."), environ(ts), ts.Stderr()
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		var shown *http.Response
		if shown, err = http.Get(strings.TrimSpace(address)); err == nil {
			_, err = io.Copy(ts.Stdout(), shown.Body)
			_ = shown.Body.Close()
		}
	}
	if err != nil {
		_ = c.Process.Kill()
	}
	ts.Check(errors.Join(err, c.Wait()))
}

// paste ARG...: runs petrigate, and opens the address that it prints in a browser that cannot
// come back to it. A person types something else, and then the address that the browser ends at.
func paste(ts *testscript.TestScript, neg bool, args []string) {
	argument(ts, neg, args, 1)
	c := exec.Command(program(ts, "petrigate"), args...)
	c.Dir, c.Env, c.Stderr = ts.MkAbs("."), environ(ts), ts.Stderr()
	out, err := c.StdoutPipe()
	ts.Check(err)
	typed, err := c.StdinPipe()
	ts.Check(err)
	ts.Check(c.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		stays := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		var shown *http.Response
		if shown, err = stays.Get(strings.TrimSpace(address)); err == nil {
			_ = shown.Body.Close()
			_, err = fmt.Fprintf(typed, "%s\n%s\n", address, shown.Header.Get("Location"))
		}
	}
	if err != nil {
		_ = c.Process.Kill()
	}
	ts.Check(errors.Join(err, c.Wait()))
}

// startAuthServer NAME [option...]: starts an authorization server with the
// attack tools behind it, and sets NAME to the address of those. An option
// is "scope=x", of the resource, or "client=id:secret".
func startAuthServer(ts *testscript.TestScript, neg bool, args []string) {
	name := argument(ts, neg, args, 1)
	o := authserver.Options{Clients: map[string]string{}}
	for _, option := range args[1:] {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "scope":
			o.Scopes = append(o.Scopes, value)
		case "client":
			id, secret, _ := strings.Cut(value, ":")
			o.Clients[id] = secret
		default:
			ts.Fatalf("no option %s", key)
		}
	}
	s := authserver.New(testserver.New(testserver.Options{Tools: testserver.Attack()}), o)
	listening := httptest.NewServer(s)
	closes := func() {
		listening.CloseClientConnections()
		listening.Close()
	}
	ts.Defer(closes)
	s.At(listening.URL)
	ts.Value(authKey{}).(map[string]*authSite)[name] = &authSite{s, closes}
	ts.Setenv(name, listening.URL+"/mcp")
}

// handleTokens NAME revoke|expire|want SCOPE|count WHAT N|close: does something to
// the tokens of an authorization server, counts what it was asked for, or ends it.
func handleTokens(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(authKey{}).(map[string]*authSite)[argument(ts, neg, args, 2)]
	if s == nil {
		ts.Fatalf("no authorization server %s", args[0])
	}
	switch {
	case args[1] == "revoke":
		s.Revoke()
	case args[1] == "close":
		s.close()
	case args[1] == "expire":
		s.Expire()
	case args[1] == "want" && len(args) == 3:
		s.Want(args[2])
	case args[1] == "count" && len(args) == 4:
		if got := fmt.Sprint(s.Count(args[2])); got != args[3] {
			ts.Fatalf("%s: %s times, want %s", args[2], got, args[3])
		}
	default:
		ts.Fatalf("tokens cannot %s", args[1])
	}
}

// secretless NAME: fails if a token of an authorization server stands in a file
// of the script, but for those where tokens are kept, or was printed last.
func secretless(ts *testscript.TestScript, neg bool, args []string) {
	live := ts.Value(authKey{}).(map[string]*authSite)[argument(ts, neg, args, 1)].Live()
	if len(live) == 0 {
		ts.Fatalf("there are no tokens to look for")
	}
	look := func(where, text string) {
		for _, token := range live {
			if strings.Contains(text, token) {
				ts.Fatalf("a token stands in %s", where)
			}
		}
	}
	look("stdout", ts.ReadFile("stdout"))
	look("stderr", ts.ReadFile("stderr"))
	for name, a := range ts.Value(agentsKey{}).(map[string]*scriptAgent) {
		look("what "+name+" logs", a.stderr())
		a.mu.Lock()
		for _, reply := range a.replies {
			look("what "+name+" answers", reply)
		}
		a.mu.Unlock()
	}
	kept := filepath.Join(ts.Getenv("XDG_STATE_HOME"), "petrigate", "oauth")
	err := filepath.WalkDir(ts.Getenv("WORK"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Dir(path) == kept {
			return err
		}
		text, err := os.ReadFile(path)
		look(path, string(text))
		return err
	})
	ts.Check(err)
}
