// Package takeover is the flow of the verbs import, connect and disconnect: what a file of a client
// would become, the difference, a question, and a write that can be undone.
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

// A Desk is what all flows need.
type Desk struct {
	System clientcfg.System
	State  string // the folder of what is kept of the files of clients
	Out    io.Writer
	// Ask puts a question to a person; nil: there is nobody.
	Ask func(question string) (bool, error)
	// Running lists the processes of the machine; nil: it is not known.
	Running func(context.Context) ([]clientcfg.Process, error)
	// Proxies lists those of this user that run; nil: it is not known.
	Proxies func() []Proxy
	// Fetch reads base policies at addresses.
	Fetch config.Fetch

	Yes   bool // write without a question
	Force bool // write although the client runs
}

// A UsageError says that a verb was not used as it has to be.
type UsageError struct{ msg string }

func (e *UsageError) Error() string { return e.msg }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Find returns the client of a name.
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

// A file is a configuration file of a client as it is now.
type file struct {
	client clientcfg.Client
	path   string // as people call it
	target string // behind symbolic links
	exists bool
	src    []byte
	doc    *splice.Document
}

// open finds and reads the file of a client. The name stands for another file than the usual.
func (d *Desk) open(c clientcfg.Client, name string) (*file, error) {
	f := &file{client: c, path: name}
	if name == "" {
		f.path = usual(c.Files(d.System))
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
		if f.src, err = read(f.target); err != nil {
			return nil, fmt.Errorf("reading the file of %s: %w", c.Title, err)
		}
	}
	f.doc, err = splice.Parse(f.path, f.src, c.Format)
	return f, err
}

// usual is the first of some files that exists, or the first.
func usual(files []string) string {
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

// read reads a regular file: a named pipe would wait for a writer.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// An item is one entry of a client.
type item struct {
	at     splice.Place
	entry  splice.Entry
	server clientcfg.Server
	own    bool // it runs petrigate
}

// items are all entries of a file, without what is a part of the client.
func (d *Desk) items(f *file, doc *splice.Document) (all []item, err error) {
	beside := d.beside(f)
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

// beside reads the further files in which the client says something about servers. One that does
// not exist or cannot be read is left out; import names the latter.
func (d *Desk) beside(f *file) (all []*file) {
	for _, path := range f.client.Beside(d.System, f.path) {
		src, err := read(path)
		if err != nil {
			continue
		}
		if doc, err := splice.Parse(path, src, f.client.Format); err == nil {
			all = append(all, &file{client: f.client, path: path, doc: doc})
		}
	}
	return all
}

// runsUs reports whether a server is petrigate itself, which must not serve itself. Another may have its
// name.
func runsUs(s clientcfg.Server) bool {
	command, url, args := started(s)
	named, serves := s.Name == Ours, slices.Contains(args, "serve")
	if url != "" {
		return named
	}
	return (named || serves && args[0] == "serve") && program(command) == Ours || named && serves
}

// started is how a server is started or reached.
func started(s clientcfg.Server) (command, url string, args []string) {
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

func (d *Desk) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.Out, format+"\n", args...)
}

// ErrDeclined is returned where a person says no.
var ErrDeclined = errors.New("nothing was written")

// Agree asks whether to write.
func (d *Desk) Agree(question string) error {
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

// quiet refuses to write the file of a client that runs and would overwrite it.
func (d *Desk) quiet(ctx context.Context, c clientcfg.Client) error {
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

// write puts new text into a file that is as it was when it was shown.
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

// unchanged refuses a file that is not as it was when it was shown.
func (f *file) unchanged() error {
	now, err := read(f.target)
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

// backup is the file in which connect keeps what was there before.
func (f *file) backup() string {
	if strings.HasSuffix(f.client.Name, "-hooks") { // a file may have servers too
		return f.target + ".before-petrigate-hooks"
	}
	return f.target + ".before-petrigate"
}

// older says where the file may be as it was before an earlier connect.
func (f *file) older() string {
	if _, err := os.Lstat(f.backup()); err != nil {
		return ""
	}
	return fmt.Sprintf("; the file as it was before is perhaps in %s", f.backup())
}

// keepBackup copies a file to the place beside it, for this user only: it may have secrets. A copy that
// an earlier connect has made stays where it is older than the entry of petrigate.
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
