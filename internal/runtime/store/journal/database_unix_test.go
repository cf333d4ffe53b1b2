//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"errors"
	"io"
	"os"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// A databaseDisk is a file system for SQLite that simulates power losses. It uses the machine's own
// files. A write reaches the disk only when it is synced; at a power loss, each later write is
// kept, dropped or torn. File names always survive.
type databaseDisk struct {
	vfs.VFS // the machine's own file system, for names, locks and shared memory

	*power
	files map[string]*platter
}

// A platter is the content of one file, both on the disk and as programs see it.
type platter struct {
	file   *os.File
	seen   []byte // the content as programs see it
	writes []change
}

func newDatabaseDisk(p *power) *databaseDisk {
	d := &databaseDisk{VFS: vfs.Find("os"), power: p, files: map[string]*platter{}}
	p.onCut(func() error {
		for _, name := range sorted(d.files) {
			p := d.files[name]
			for _, c := range p.writes {
				if d.random.IntN(2) == 0 {
					continue
				}
				if len(c.data) > sector && d.random.IntN(3) == 0 { // keep only some sectors of the page
					first := d.random.IntN(len(c.data) / sector)
					last := first + 1 + d.random.IntN(len(c.data)/sector-first)
					c.at, c.data = c.at+int64(first)*sector, c.data[first*sector:last*sector]
				}
				if err := p.bring(c); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return d
}

var errNoDatabase = sqlite3.IOERR_ACCESS

func (d *databaseDisk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, flags, errNoDatabase
	}
	f, flags, err := d.VFS.(vfs.VFSFilename).OpenFilename(name, flags)
	if err != nil || name == nil {
		return f, flags, err
	}
	p, err := d.platter(name.String())
	if err != nil {
		return nil, flags, errors.Join(err, f.Close())
	}
	return &handle{f, d, p}, flags, nil
}

func (d *databaseDisk) platter(name string) (*platter, error) {
	if p := d.files[name]; p != nil {
		return p, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	seen, err := io.ReadAll(f)
	d.files[name] = &platter{file: f, seen: seen}
	return d.files[name], err
}

func (d *databaseDisk) Delete(name string, sync bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return errNoDatabase
	}
	if p := d.files[name]; p != nil {
		_ = p.file.Close()
		delete(d.files, name)
	}
	return d.VFS.Delete(name, sync)
}

// bring applies the change c to the file on the disk.
func (p *platter) bring(c change) error {
	if c.data == nil {
		return p.file.Truncate(c.at)
	}
	_, err := p.file.WriteAt(c.data, c.at)
	return err
}

func (d *databaseDisk) close() {
	for _, p := range d.files {
		_ = p.file.Close()
	}
}

// A handle is an open file of a databaseDisk.
type handle struct {
	vfs.File
	disk *databaseDisk
	*platter
}

func (h *handle) SharedMemory() vfs.SharedMemory {
	if f, ok := h.File.(vfs.FileSharedMemory); ok {
		return f.SharedMemory()
	}
	return nil
}

func (h *handle) ReadAt(b []byte, at int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.disk.off {
		return 0, errNoDatabase
	}
	if at >= int64(len(h.seen)) {
		return 0, io.EOF
	}
	n := copy(b, h.seen[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(b []byte, at int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.disk.off {
		return 0, errNoDatabase
	}
	if more := at + int64(len(b)) - int64(len(h.seen)); more > 0 {
		h.seen = append(h.seen, make([]byte, more)...)
	}
	copy(h.seen[at:], b)
	h.writes = append(h.writes, change{at, append([]byte{}, b...)})
	if h.disk.act() != nil {
		return 0, errNoDatabase
	}
	return len(b), nil
}

func (h *handle) Truncate(size int64) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if size < int64(len(h.seen)) {
		h.seen = h.seen[:size]
	}
	h.writes = append(h.writes, change{at: size})
	if h.disk.act() != nil {
		return errNoDatabase
	}
	return nil
}

func (h *handle) Sync(vfs.SyncFlag) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.disk.act() != nil {
		return errNoDatabase
	}
	if h.disk.lies {
		return nil
	}
	for _, c := range h.writes {
		if err := h.bring(c); err != nil {
			return err
		}
	}
	h.writes = nil
	return nil
}

func (h *handle) Size() (int64, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return int64(len(h.seen)), nil
}
