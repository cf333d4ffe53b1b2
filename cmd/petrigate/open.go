package main

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/internal/serve/terminal"
)

func newOpen(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "open [APPROVAL]", Short: "Open the console in a browser", Args: cobra.MaximumNArgs(1)}
	c.Long = "open opens the console of a running proxy, or the page of one approval. The printed address works once, in one\n" +
		"browser, for five minutes: do not share it."
	pid := proxyFlag(c)
	still := c.Flags().Bool("print", false, "print the address without starting a browser")
	c.RunE = func(_ *cobra.Command, args []string) error {
		client, path, err := consoleOf(args, *pid)
		if err != nil {
			return err
		}
		opened, err := client.Open(control.Open{Actor: actor(), Path: path})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(s.out, opened.Address); err != nil || *still || !terminal.Is(s.out) {
			return err
		}
		if err := startBrowser(opened.Address); err != nil {
			_, _ = fmt.Fprintf(s.err, "could not start a browser (%v): open the address yourself\n", err)
		}
		return nil
	}
	return c
}

// consoleOf returns a client for the proxy that serves the console, and the path of the page to
// open.
func consoleOf(args []string, pid int) (*control.Client, string, error) {
	if len(args) == 0 {
		found, err := running()
		if err != nil {
			return nil, "", err
		}
		client, err := selectProxy(found, pid, "a console")
		return client, "/", err
	}
	a, err := findApproval(args[0])
	return a.client, "/inbox/" + a.it.ID, err
}

// startBrowser opens an address in the user's browser. It passes the address in a file that only
// this user can read, because other users can see a program's arguments.
func startBrowser(address string) error {
	file, err := pageTo(address)
	if err != nil {
		return err
	}
	program := oauth.Browser(runtime.GOOS, "")
	started := exec.Command(program[0], append(program[1:], file)...)
	if err := started.Start(); err != nil {
		return err
	}
	return started.Process.Release()
}

// pageTo writes a page that redirects to the given address, and returns the path of the file. It
// also removes the pages of earlier calls, because the login codes in them expire after a few
// minutes and work only once.
func pageTo(address string) (file string, err error) {
	dir := daemon.RuntimeDir()
	old, _ := filepath.Glob(filepath.Join(dir, "open-*.html")) // ignore the error, because the pattern is valid
	for _, name := range old {
		_ = os.Remove(name)
	}
	f, err := os.CreateTemp(dir, "open-*.html")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=utf-8><title>petrigate</title><meta http-equiv=refresh content=\"0;url=%[1]s\"><a href=\"%[1]s\">Open the console</a>\n", html.EscapeString(address))
	return f.Name(), errors.Join(err, f.Close())
}
