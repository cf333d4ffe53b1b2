package toolpin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/textfile"
)

// FirstSight stands for who has accepted what was not known before.
const FirstSight = "first sight"

const (
	maxPins  = 5000     // of one server
	maxText  = 1 << 20  // bytes of one definition
	maxFile  = 64 << 20 // bytes
	maxDepth = 200      // of the file
)

// A Pin is a definition that was accepted.
type Pin struct {
	Definition
	Since time.Time `json:"since"`
	By    string    `json:"by"` // who has accepted it
}

// A Book keeps pins in a file, which several processes may use at once. It is safe for
// concurrent use.
type Book struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	pins map[key]Pin
	read stamp // of the file when it was read last
}

type key struct{ server, tool string }

// A stamp tells one state of a file from another.
type stamp struct {
	size  int64
	mtime time.Time
}

// content is the file.
type content struct {
	Version int   `json:"version"`
	Tools   []Pin `json:"tools"`
}

// Open reads the book at path, which need not be there yet. What is not as a book writes it
// is an error: taken for an empty one, it would accept everything anew.
func Open(path string, now func() time.Time) (*Book, error) {
	b := &Book{path: path, now: now, pins: map[key]Pin{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b, b.load()
}

// load takes over what the file has, where it has changed.
func (b *Book) load() error {
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // what is known stays so
	}
	if err != nil {
		return fmt.Errorf("reading the accepted definitions of tools: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("reading the accepted definitions of tools: %w", err)
	}
	found := stamp{info.Size(), info.ModTime()}
	if found == b.read {
		return nil
	}
	if info.Size() > maxFile {
		return fmt.Errorf("%s has more than %d bytes, which is no file of accepted definitions", b.path, maxFile)
	}
	if err := safefile.Regular(info); err != nil {
		return fmt.Errorf("%s says which tools may be called: %w", b.path, err)
	}
	pins, err := parse(f)
	if err != nil {
		return fmt.Errorf("%s has the accepted definitions of tools, and is not as petrigate writes it: %w; put it back, or remove it to accept what the servers say now", b.path, err)
	}
	b.pins, b.read = pins, found
	return nil
}

func parse(f *os.File) (map[key]Pin, error) {
	var all bytes.Buffer
	if _, err := all.ReadFrom(f); err != nil {
		return nil, err
	}
	if err := rawjson.Check(all.Bytes(), maxDepth); err != nil {
		return nil, err
	}
	var c content
	d := json.NewDecoder(&all)
	d.DisallowUnknownFields()
	switch err := d.Decode(&c); {
	case err != nil:
		return nil, err
	case c.Version != 1:
		return nil, fmt.Errorf("its version is %d, and this petrigate knows version 1", c.Version)
	}
	pins := map[key]Pin{}
	for _, p := range c.Tools {
		at := key{p.Server, p.Tool}
		if _, twice := pins[at]; twice {
			return nil, fmt.Errorf("%s.%s is there twice", p.Server, p.Tool)
		}
		p.Text = canonical(p.Text)
		pins[at] = p
	}
	return pins, nil
}

// Meet notes the tools of a server, all that it lists now: those that nobody has seen before
// are accepted as they are. Its error says why that cannot be; they are not accepted then.
func (b *Book) Meet(definitions []Definition) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		return err
	}
	if !slices.ContainsFunc(definitions, b.isNew) {
		return nil
	}
	var left []error
	err := b.change(func() {
		for _, d := range definitions {
			if !b.isNew(d) {
				continue
			}
			if err := b.fits(d); err != nil {
				left = append(left, err)
				continue
			}
			b.pins[key{d.Server, d.Tool}] = Pin{Definition: d, Since: b.now(), By: FirstSight}
		}
	})
	return errors.Join(append(left, err)...)
}

func (b *Book) isNew(d Definition) bool {
	_, known := b.pins[key{d.Server, d.Tool}]
	return !known
}

// fits bounds what a server can make the book keep.
func (b *Book) fits(d Definition) error {
	if err := d.small(); err != nil {
		return err
	}
	n := 0
	for at := range b.pins {
		if at.server == d.Server {
			n++
		}
	}
	if n >= maxPins {
		return fmt.Errorf("the server %s has named %d tools by now, and no more are kept", d.Server, maxPins)
	}
	return nil
}

func (d Definition) small() error {
	if len(d.Text) > maxText {
		return fmt.Errorf("the definition of %s.%s has %d bytes, and at most %d are kept", d.Server, d.Tool, len(d.Text), maxText)
	}
	return nil
}

// Find returns the definition of a tool that was accepted.
func (b *Book) Find(server, tool string) (Pin, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pins[key{server, tool}]
	return p, ok
}

// Accept accepts a definition in the place of the one before.
func (b *Book) Accept(d Definition, by string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := d.small(); err != nil {
		return err
	}
	return b.change(func() { b.pins[key{d.Server, d.Tool}] = Pin{Definition: d, Since: b.now(), By: by} })
}

// change changes the book and its file, or neither, while no other process does.
func (b *Book) change(f func()) error {
	return textfile.Locked(b.path, func() error {
		if err := b.load(); err != nil {
			return err
		}
		before := maps.Clone(b.pins)
		f()
		err := b.store()
		if err != nil {
			b.pins = before
		}
		return err
	})
}

// store writes the file.
func (b *Book) store() error {
	c := content{Version: 1, Tools: []Pin{}}
	for _, p := range b.pins {
		c.Tools = append(c.Tools, p)
	}
	slices.SortFunc(c.Tools, func(x, y Pin) int { return cmp.Or(cmp.Compare(x.Server, y.Server), cmp.Compare(x.Tool, y.Tool)) })
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(c)
	if err == nil {
		err = textfile.ReplacePrivate(b.path, data.Bytes())
	}
	if err != nil {
		return fmt.Errorf("keeping the accepted definitions of tools: %w", err)
	}
	if info, err := os.Stat(b.path); err == nil {
		b.read = stamp{info.Size(), info.ModTime()}
	}
	return nil
}
