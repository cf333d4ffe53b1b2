// Package takeover implements the commands import, connect and disconnect.
//
// import copies an MCP client's servers to petrigate's configuration. connect replaces those
// servers in the client's file with a single entry that runs petrigate, or adds petrigate to an
// agent's hooks. disconnect undoes this. A [Driver] runs all of these commands: it computes the new
// content of a file, shows the difference with secrets masked, asks for confirmation, and writes
// the file.
//
// Every change to a client's file can be undone. Before a file is written, a record of the change
// (a step, with the content before and after it) is stored in the state directory, and a backup of
// the file is made next to it. disconnect undoes the steps in reverse order. If the file was not
// edited in between, this restores it byte for byte; otherwise, petrigate's entry is removed, and
// missing entries are restored. Records are changed under a file lock in the state directory. A
// file that has changed since the difference was shown is not written.
//
// connect --hooks can also install a user service that runs the proxy; see [HookService]. The
// package starts no goroutines.
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

// A Driver holds what the commands need to know about their environment.
type Driver struct {
	System clientcfg.System
	State  string // state directory; contains the records of changed files
	Out    io.Writer
	// Ask asks a person for confirmation. It is nil without a terminal.
	Ask func(question string) (bool, error)
	// Running lists the processes on this machine. It is nil if the processes are not known.
	Running func(context.Context) ([]clientcfg.Process, error)
	// Proxies lists the user's running proxies. It is nil if the proxies are not known.
	Proxies func() []Proxy
	// Fetch fetches base policies from URLs.
	Fetch config.Fetch

	Yes   bool // whether to write without asking
	Force bool // whether to write even if the client is running
}

// A UsageError means that a command was called with invalid arguments.
type UsageError struct{ msg string }

func (e *UsageError) Error() string { return e.msg }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Find returns the client with the given name. The error is a [UsageError].
func Find(name string) (clientcfg.Client, error) {
	c, near, ok := clientcfg.Find(name)
	if ok {
		return c, nil
	}
	hint := "; petrigate connect --list lists them"
	if near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return c, usage("petrigate does not know the client %q%s", name, hint)
}

func (d *Driver) say(format string, args ...any) { output{d.Out}.say(format, args...) }

// output prints what a command has done, and what the user must know about it.
type output struct{ io.Writer }

// say prints one line.
func (o output) say(format string, args ...any) { _, _ = fmt.Fprintf(o, format+"\n", args...) }

// ErrDeclined means that the person answered no.
var ErrDeclined = errors.New("nothing was written")

// Agree asks the person for confirmation. It returns [ErrDeclined] unless the answer is yes.
func (d *Driver) Agree(question string) error {
	switch {
	case d.Yes:
		return nil
	case d.Ask == nil:
		return usage("nothing was written: there is no terminal to ask at; --yes writes without asking")
	}
	yes, err := d.Ask(question)
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

// checkNotRunning returns an error if the client is running, because it might overwrite the file.
func (d *Driver) checkNotRunning(ctx context.Context, c clientcfg.Client) error {
	if !c.Overwrites || d.Running == nil || d.Force {
		return nil
	}
	all, err := d.Running(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("checking whether %s is running: %w; if it is not, use --force", c.Title, err)
	case c.IsRunning(all):
		return fmt.Errorf("%s is running and rewrites its file from memory, so petrigate's changes would be lost. Quit it first (its tray icon too), or use --force", c.Title)
	}
	return nil
}

// A Proxy is a running proxy.
type Proxy struct {
	PID    int
	Config string
	URL    string // empty if the proxy serves its client over stdio
}
