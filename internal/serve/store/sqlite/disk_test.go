package sqlite

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// A disk is a file system of SQLite on files of the machine, of which nothing is written
// before it is synced. When its power goes, each write since is kept, dropped or torn.
// Only the names of files are always kept.
type disk struct {
	vfs.VFS // of the machine, for names, locks and shared memory

	mu     sync.Mutex
	random *rand.Rand
	left   int  // writes and syncs until the power goes
	lies   bool // to sync does nothing
	off    bool // the power is
	files  map[string]*platter
}

// A platter is one file.
type platter struct {
	file   *os.File
	seen   []byte // by programs
	writes []change
}

// A change is a write, or where data is nil a cut.
type change struct {
	at   int64
	data []byte
}

func newDisk(random *rand.Rand, left int) *disk {
	return &disk{VFS: vfs.Find("os"), random: random, left: left, files: map[string]*platter{}}
}

var errOff = sqlite3.IOERR_ACCESS

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, flags, errOff
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

func (d *disk) platter(name string) (*platter, error) {
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

func (d *disk) Delete(name string, sync bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return errOff
	}
	if p := d.files[name]; p != nil {
		_ = p.file.Close()
		delete(d.files, name)
	}
	return d.VFS.Delete(name, sync)
}

// act counts a write or a sync, and turns the power off when it is time.
func (d *disk) act() error {
	if d.off {
		return errOff
	}
	if d.left--; d.left > 0 {
		return nil
	}
	d.off = true
	for _, p := range d.files {
		for _, c := range p.writes {
			if d.random.IntN(2) == 0 {
				continue
			}
			if len(c.data) > 512 && d.random.IntN(3) == 0 { // some sectors of it
				first := d.random.IntN(len(c.data) / 512)
				last := first + 1 + d.random.IntN(len(c.data)/512-first)
				c.at, c.data = c.at+int64(first)*512, c.data[first*512:last*512]
			}
			if err := p.bring(c); err != nil {
				return err
			}
		}
	}
	return errOff
}

// bring puts a change on the disk.
func (p *platter) bring(c change) error {
	if c.data == nil {
		return p.file.Truncate(c.at)
	}
	_, err := p.file.WriteAt(c.data, c.at)
	return err
}

func (d *disk) close() {
	for _, p := range d.files {
		_ = p.file.Close()
	}
}

// A handle is an open file.
type handle struct {
	vfs.File
	disk *disk
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
		return 0, errOff
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
	if more := at + int64(len(b)) - int64(len(h.seen)); more > 0 {
		h.seen = append(h.seen, make([]byte, more)...)
	}
	copy(h.seen[at:], b)
	h.writes = append(h.writes, change{at, append([]byte{}, b...)})
	if err := h.disk.act(); err != nil {
		return 0, err
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
	return h.disk.act()
}

func (h *handle) Sync(vfs.SyncFlag) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.act(); err != nil || h.disk.lies {
		return err
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
