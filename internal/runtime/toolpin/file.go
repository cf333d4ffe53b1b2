package toolpin

import (
	"bytes"
	"cmp"
	"context"
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

const (
	maxFile  = 64 << 20 // maximum size of the file in bytes
	maxDepth = 200      // maximum nesting depth of the JSON in the file
)

// File is a [Store] in a file. Processes on the same machine can share it.
type File struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	pins map[key]Pin
	read fileStamp // identifies the version of the file that was last read
}

var _ Store = (*File)(nil)

// fileStamp distinguishes versions of a file by size and modification time.
type fileStamp struct {
	size  int64
	mtime time.Time
}

// content is the JSON document in the file.
type content struct {
	Version int   `json:"version"`
	Tools   []Pin `json:"tools"`
}

// Open reads the file at the given path if the file exists. If the file is damaged, Open returns an
// error, because a store without pins would accept every definition as new.
func Open(path string, now func() time.Time) (*File, error) {
	b := &File{path: path, now: now, pins: map[key]Pin{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b, b.load()
}

// load reads the file if it has changed since the last read.
func (b *File) load() error {
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // if the file does not exist, keep the pins in memory
	}
	if err != nil {
		return fmt.Errorf("reading the accepted tool definitions: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("reading the accepted tool definitions: %w", err)
	}
	found := fileStamp{info.Size(), info.ModTime()}
	if found == b.read {
		return nil
	}
	if info.Size() > maxFile {
		return fmt.Errorf("%s has more than %d bytes, so it is not a file of accepted definitions", b.path, maxFile)
	}
	if err := safefile.CheckFile(info); err != nil {
		return fmt.Errorf("%s determines which tools can be called: %w", b.path, err)
	}
	pins, err := parse(f)
	if err != nil {
		return fmt.Errorf("%s, the file of accepted tool definitions, is invalid: %w; restore it, or remove it to accept the servers' current definitions", b.path, err)
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
		return nil, fmt.Errorf("its version is %d, but this petrigate supports version 1", c.Version)
	}
	pins := map[key]Pin{}
	for _, p := range c.Tools {
		at := key{p.Server, p.Tool}
		if _, twice := pins[at]; twice {
			return nil, fmt.Errorf("%s.%s is listed twice", p.Server, p.Tool)
		}
		p.Text = canonical(p.Text)
		pins[at] = p
	}
	return pins, nil
}

// Pins returns all pins, sorted by server and tool.
func (b *File) Pins() []Pin {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sorted(b.pins)
}

// Register implements [Store].
func (b *File) Register(_ context.Context, server string, definitions []Definition) (left, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		return nil, err
	}
	if fresh, left := newPins(server, definitions, b.pins); len(fresh) == 0 {
		return left, nil
	}
	err = b.update(func() {
		var fresh []Definition
		fresh, left = newPins(server, definitions, b.pins) // look again, because another process might have added pins since load
		for _, d := range fresh {
			b.pins[key{d.Server, d.Tool}] = Pin{Definition: d, Since: b.now(), By: FirstSight}
		}
	})
	return left, err
}

// Find implements [Store].
func (b *File) Find(server, tool string) (Pin, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pins[key{server, tool}]
	return p, ok
}

// Accept implements [Store].
func (b *File) Accept(_ context.Context, d Definition, by string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := d.checkSize(); err != nil {
		return err
	}
	return b.update(func() { b.pins[key{d.Server, d.Tool}] = Pin{Definition: d, Since: b.now(), By: by} })
}

// Refresh implements [Store].
func (b *File) Refresh(context.Context) (changed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.read
	err = b.load()
	return b.read != before, err
}

// update applies f to the pins and writes the file while other processes are locked out. If the
// file cannot be written, the pins are left unchanged.
func (b *File) update(f func()) error {
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

func (b *File) store() error {
	c := content{Version: 1, Tools: sorted(b.pins)}
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(c)
	if err == nil && data.Len() > maxFile { // load would reject a larger file
		err = fmt.Errorf("%s would be %d bytes; the limit is %d", b.path, data.Len(), maxFile)
	}
	if err == nil {
		err = textfile.ReplacePrivate(b.path, data.Bytes())
	}
	if err != nil {
		return fmt.Errorf("storing the accepted tool definitions: %w", err)
	}
	if info, err := os.Stat(b.path); err == nil {
		b.read = fileStamp{info.Size(), info.ModTime()}
	}
	return nil
}

// sorted returns the pins in a slice, sorted by server and tool.
func sorted(pins map[key]Pin) []Pin {
	all := make([]Pin, 0, len(pins))
	for _, p := range pins {
		all = append(all, p)
	}
	slices.SortFunc(all, func(x, y Pin) int { return cmp.Or(cmp.Compare(x.Server, y.Server), cmp.Compare(x.Tool, y.Tool)) })
	return all
}
