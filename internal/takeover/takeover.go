// Package takeover implements the commands import, connect and disconnect.
//
// import copies an MCP client's servers to petrigate's configuration. connect replaces those
// servers in the client's file with a single entry that runs petrigate, or adds petrigate to an
// agent's hooks. disconnect undoes what connect did. A [Driver] runs these commands: it computes
// the new content of a file, shows a diff with secrets masked, asks for confirmation, and writes
// the file.
//
// Every change to a client's file can be undone. Before writing a file, the Driver records the
// change (a step, with the content before and after it) in the state directory and makes a backup
// next to the file. disconnect undoes the steps in reverse order. This restores an unedited file
// byte for byte; from an edited file, petrigate's entry is removed, and missing entries are put
// back. Records are changed under a file lock in the state directory. A file that has changed since
// the diff was shown is not written.
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

// A Driver runs the commands import, connect and disconnect. Its fields describe the environment of
// these commands.
type Driver struct {
	System clientcfg.System
	State  string // state directory, which contains the records of changed files
	Out    io.Writer
	// Ask asks a person for confirmation. It is nil if the program has no terminal.
	Ask func(question string) (bool, error)
	// Running lists the processes on this machine; nil if they are unknown.
	Running func(context.Context) ([]clientcfg.Process, error)
	// Proxies lists the user's running proxies; nil if they are unknown.
	Proxies func() []Proxy
	// Fetch fetches base policies from URLs.
	Fetch config.Fetch

	Yes   bool // whether to write without asking
	Force bool // whether to write even if the client is running
}

// A UsageError reports invalid arguments of a command.
type UsageError struct{ msg string }

func (e *UsageError) Error() string { return e.msg }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// findClient returns the client with the given name. If no client has this name, the error is a
// [UsageError].
func findClient(name string) (clientcfg.Client, error) {
	c, near, ok := clientcfg.Find(name)
	if ok {
		return c, nil
	}
	hint := "; petrigate connect --list lists them"
	if near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return c, usage("unknown client %q%s", name, hint)
}

func (d *Driver) say(format string, args ...any) { output{d.Out}.say(format, args...) }

// An output is the destination of a command's results and of its notes for the user.
type output struct{ io.Writer }

// say prints one line.
func (o output) say(format string, args ...any) { _, _ = fmt.Fprintf(o, format+"\n", args...) }

// ErrDeclined means that the user did not confirm a change.
var ErrDeclined = errors.New("nothing was written")

// Agree asks the person for confirmation. It returns [ErrDeclined] unless the answer is yes.
func (d *Driver) Agree(question string) error {
	switch {
	case d.Yes:
		return nil
	case d.Ask == nil:
		return usage("nothing was written: there is no terminal to confirm at; use --yes to write without confirmation")
	}
	yes, err := d.Ask(question)
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

// checkNotRunning returns an error if the client is running and might overwrite the file.
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
	URL    string // URL for clients; empty for a proxy that its client reaches over stdio
}
