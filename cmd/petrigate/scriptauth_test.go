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

// An authSite is an authorization server, with a function that closes it.
type authSite struct {
	*authserver.Server
	close func()
}

// browse is a program that acts as the browser: it opens the page and follows redirects.
func browse() {
	response, err := http.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer response.Body.Close()
	_, _ = io.Copy(os.Stdout, response.Body)
}

// visit implements the script command "visit ARGS...", which runs petrigate with the given
// arguments, opens the address that it prints, and waits until the program has ended.
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

// paste implements the script command "paste ARGS...", which runs petrigate and opens the address
// that it prints in a browser that cannot reach petrigate. The user first types something else, and
// then the address where the browser ended up.
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

// startAuthServer implements the script command "authserver NAME [OPTION...]", which starts an
// authorization server and a server with the attack tools behind it, and sets NAME to the address
// of the latter. Options are "scope=x", a scope of the resource, and "client=id:secret".
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

// handleTokens implements the script command "tokens NAME revoke|expire|want SCOPE|count WHAT
// N|close", which revokes or expires an authorization server's tokens, requires a scope, compares
// the number of requests, or ends the server.
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

// secretless implements the script command "secretless NAME", which fails if a token of an
// authorization server appears in the last output, in an answer or log of a proxy, or in one of the
// script's files outside of the token store.
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
