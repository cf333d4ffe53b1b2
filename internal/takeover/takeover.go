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
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/textfile"
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

// A file is the current state of a client's configuration file.
type file struct {
	client clientcfg.Client
	path   string // path for messages
	target string // path with symbolic links resolved
	exists bool
	src    []byte
	doc    *splice.Document
}

// open finds and reads the file of a client. A non-empty name overrides the usual path.
func (d *Driver) open(c clientcfg.Client, name string) (*file, error) {
	f := &file{client: c, path: name}
	if name == "" {
		f.path = firstExisting(c.Files(d.System))
	} else if abs, err := filepath.Abs(name); err == nil {
		f.path = abs
	}
	f.target = f.path
	real, err := filepath.EvalSymlinks(f.path)
	switch {
	case err == nil:
		f.target, f.exists = real, true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading the file of %s: %w", c.Title, err)
	case isLink(f.path):
		return nil, fmt.Errorf("%s is a symbolic link to a file that does not exist; make that file, or remove the link", f.path)
	}
	if f.exists {
		if f.src, err = readRegular(f.target); err != nil {
			return nil, fmt.Errorf("reading the file of %s: %w", c.Title, err)
		}
	}
	f.doc, err = splice.Parse(f.path, f.src, c.Format)
	return f, err
}

// firstExisting returns the first file that exists, or the first file if none does.
func firstExisting(files []string) string {
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return file
		}
	}
	return files[0]
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// readRegular reads a regular file. It refuses others: reading a named pipe would block.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// An item is one server entry of a client's file.
type item struct {
	at     splice.Place
	entry  splice.Entry
	server clientcfg.Server
	own    bool // the entry runs petrigate
}

// items returns the server entries of a file, except servers that are built into the client.
func (d *Driver) items(f *file, doc *splice.Document) (all []item, err error) {
	beside := d.besideFiles(f)
	for _, at := range f.client.Places(doc) {
		entries, err := doc.Entries(at)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			s := f.client.Read(d.System, e.Name, e.Value)
			if key := f.client.Closed(doc, at, e.Name); key != "" {
				s.Disable(key)
			}
			for _, other := range beside {
				if key := f.client.ClosedBeside(other.doc, f.path, e.Name); key != "" {
					s.Disable(key + " in " + other.path)
				}
			}
			if !s.Native {
				all = append(all, item{at, e, s, runsUs(s)})
			}
		}
	}
	return all, nil
}

// besideFiles reads the additional files that affect the client's servers. Missing and unreadable
// files are skipped; import reports the latter.
func (d *Driver) besideFiles(f *file) (all []*file) {
	for _, path := range f.client.Beside(d.System, f.path) {
		src, err := readRegular(path)
		if err != nil {
			continue
		}
		if doc, err := splice.Parse(path, src, f.client.Format); err == nil {
			all = append(all, &file{client: f.client, path: path, doc: doc})
		}
	}
	return all
}

// runsUs reports whether a server entry runs petrigate, which must not serve itself. The name of
// the entry is not sufficient: another server may use it.
func runsUs(s clientcfg.Server) bool {
	command, url, args := launchOf(s)
	named, serves := s.Name == Ours, slices.Contains(args, "serve")
	if url != "" {
		return named
	}
	return (named || serves && args[0] == "serve") && programName(command) == Ours || named && serves
}

// launchOf returns the command and arguments, or the URL, of a server.
func launchOf(s clientcfg.Server) (command, url string, args []string) {
	for _, m := range s.Fields {
		switch v := m.Value.(type) {
		case string:
			switch m.Key {
			case "command":
				command = v
			case "url":
				url = v
			}
		case []string:
			if m.Key == "args" {
				args = v
			}
		}
	}
	return command, url, args
}

func (d *Driver) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.Out, format+"\n", args...)
}

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

// write replaces the contents of the file, which must not have changed since it was read.
func (f *file) write(after []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if !f.exists {
		if err := os.MkdirAll(filepath.Dir(f.target), 0o700); err != nil {
			return fmt.Errorf("making the folder of %s: %w", f.path, err)
		}
	}
	return textfile.Replace(f.target, after)
}

// unchanged returns an error if the file has changed since it was read.
func (f *file) unchanged() error {
	now, err := readRegular(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
		if f.exists {
			err = fmt.Errorf("it is gone; nothing was written. Run the verb again")
		}
	}
	if err != nil {
		return fmt.Errorf("reading %s again: %w", f.path, err)
	}
	if !bytes.Equal(now, f.src) {
		return fmt.Errorf("%s has changed since it was shown; nothing was written. Run the verb again", f.path)
	}
	return nil
}

// backup returns the path of the backup that connect makes.
func (f *file) backup() string {
	if strings.HasSuffix(f.client.Name, "-hooks") { // the same file may also contain servers
		return f.target + ".before-petrigate-hooks"
	}
	return f.target + ".before-petrigate"
}

// backupHint returns a message suffix that names the backup of an earlier connect, if it exists.
func (f *file) backupHint() string {
	if _, err := os.Lstat(f.backup()); err != nil {
		return ""
	}
	return fmt.Sprintf("; the file as it was before is perhaps in %s", f.backup())
}

// keepBackup copies the file to its backup, readable only by this user, because it may contain
// secrets. A backup of an earlier connect is kept, unless first is set: it predates petrigate's
// entry.
func (f *file) keepBackup(first bool) error {
	_, err := os.Lstat(f.backup())
	if !f.exists || err == nil && !first {
		return nil
	}
	if err := textfile.ReplacePrivate(f.backup(), f.src); err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	return nil
}
