package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDemoProxyFails plays the demo with programs that are no proxy.
func TestDemoProxyFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts for a shell")
	}
	tests := []struct{ script, want string }{
		{"", "starting the proxy: fork/exec $EXE: no such file or directory"},
		{"read line; echo no net >&2; exit 3\n", "shaking hands with the proxy: waiting for the proxy: EOF\nthe proxy said:\nno net"},
		{`read line; echo '{"id":1,"result":{}}'; read line; read line; exit 3` + "\n", "playing the demo: calling delete: waiting for the proxy: EOF"},
	}
	for _, test := range tests {
		exe := filepath.Join(t.TempDir(), "proxy")
		if test.script != "" {
			script(t, exe, test.script)
		}
		err := runDemo(t.Context(), exe, &teller{w: io.Discard})
		if got := strings.ReplaceAll(said(err), exe, "$EXE"); got != test.want {
			t.Errorf("%q: got %q, want %q", test.script, got, test.want)
		}
	}
}

// TestDemoProxyEndsBadly: what the proxy ends with is told, not only what it said.
func TestDemoProxyEndsBadly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script for a shell")
	}
	exe := filepath.Join(t.TempDir(), "proxy")
	script(t, exe, `read line; echo '{"id":1,"result":{}}'; read line; read line; exit 3`+"\n")
	a, err := startDemoAgent(t.Context(), exe, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(a.close()), "ending the proxy: exit status 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// script writes a program.
func script(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestDemoCannotSay compares what is said where a call does not get out.
func TestDemoCannotSay(t *testing.T) {
	const want = "calling x: sending to the proxy: it has gone"
	a := &demoAgent{in: gone{}, out: bufio.NewReader(strings.NewReader(""))}
	if _, err := a.call("x", "{}"); said(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	const wrong = "calling x: writing a message: "
	if _, err := a.call("x", "{"); !strings.HasPrefix(said(err), wrong) {
		t.Errorf("got %v, want %s", err, wrong)
	}
}

type gone struct{ discard }

func (gone) Write([]byte) (int, error) { return 0, errors.New("it has gone") }

// TestDemoFiles compares what is said of files of the demo that are not there.
func TestDemoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := writeDemo("none", "petrigate"); !strings.HasPrefix(said(err), "writing the configuration of the demo: open none/") {
		t.Error(err)
	}
	tests := []struct{ audit, want string }{
		{"", "opening the audit log: open audit.jsonl: no such file or directory"},
		{"no JSON\n", "reading the audit log: "},
		{`{"Event":"decision","Decision":"allow"}` + "\n", "opening the records of the upstream: open calls.jsonl: no such file or directory"},
	}
	for _, test := range tests {
		if test.audit != "" {
			write(t, "audit.jsonl", test.audit)
		}
		if _, err := readDemo("."); !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%q: got %v, want %q", test.audit, err, test.want)
		}
	}
}
