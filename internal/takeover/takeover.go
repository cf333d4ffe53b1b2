// Package takeover implements the commands import, connect and disconnect.
//
// import copies the servers of an MCP client into petrigate's configuration. connect replaces those
// servers in the client's file with one entry that runs petrigate, or adds petrigate to the hooks
// of an agent. disconnect undoes this. A [Driver] runs all of them: it computes the new contents of
// a file, shows the difference with secrets masked, asks for confirmation, and writes.
//
// Every change to a client's file can be undone. Before a write, a record with the contents before
// and after (a step) is stored in the state directory, and a backup is made beside the file.
// disconnect undoes the steps in reverse order, byte for byte if the file was not edited in
// between; otherwise it removes petrigate's entry and restores the entries that are missing.
// Records are changed under a file lock of the state directory, and a file that has changed since
// it was shown is not written.
//
// connect --hooks can also install a user service that runs the proxy, see [HookService]. The
// package has no goroutines.
package takeover

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
)

// Ours is the name of the entry that runs petrigate.
const Ours = "petrigate"

// A Driver holds the environment that the commands need.
type Driver struct {
	System clientcfg.System
	State  string // state directory, with the records of changed files
	Out    io.Writer
	// Ask asks a person to confirm; nil: no terminal.
	Ask func(question string) (bool, error)
	// Running lists the processes of the machine; nil: unknown.
	Running func(context.Context) ([]clientcfg.Process, error)
	// Proxies lists the running proxies of this user; nil: unknown.
	Proxies func() []Proxy
	// Fetch reads base policies from URLs.
	Fetch config.Fetch

	Yes   bool // write without asking
	Force bool // write even if the client runs
}

// A UsageError reports invalid arguments of a command.
type UsageError struct{ msg string }

func (e *UsageError) Error() string { return e.msg }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Find returns the client with the given name, or a [UsageError].
func Find(name string) (clientcfg.Client, error) {
	c, near, ok := clientcfg.Find(name)
	if ok {
		return c, nil
	}
	hint := "; petrigate connect --list lists them"
	if near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return c, usage("%q is not a client that petrigate knows%s", name, hint)
}

func (d *Driver) say(format string, args ...any) { output{d.Out}.say(format, args...) }

// output prints what a command has done, and what a person should know about it.
type output struct{ io.Writer }

// say prints one line.
func (o output) say(format string, args ...any) { _, _ = fmt.Fprintf(o, format+"\n", args...) }

// ErrDeclined is returned if the person answers no.
var ErrDeclined = errors.New("nothing was written")

// Agree asks for confirmation. It returns nil for yes, and [ErrDeclined] for no.
func (d *Driver) Agree(question string) error {
	switch {
	case d.Yes:
		return nil
	case d.Ask == nil:
		return usage("nothing was written: there is no terminal to ask at; --yes writes without a question")
	}
	yes, err := d.Ask(question)
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

// checkNotRunning returns an error if the client is running and would overwrite the file.
func (d *Driver) checkNotRunning(ctx context.Context, c clientcfg.Client) error {
	if !c.Overwrites || d.Running == nil || d.Force {
		return nil
	}
	all, err := d.Running(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("looking whether %s runs: %w; if it does not, use --force", c.Title, err)
	case c.IsRunning(all):
		return fmt.Errorf("%s is running, and writes its file anew from memory: what petrigate writes would be lost. Quit it first (its icon in the tray too), or use --force", c.Title)
	}
	return nil
}

// A Proxy is a running proxy.
type Proxy struct {
	PID    int
	Config string
	URL    string // empty: a proxy that serves a client over stdio
}
