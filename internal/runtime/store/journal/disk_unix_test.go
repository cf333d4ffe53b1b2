//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A disk writes whole sectors. The pages of a file that is cached in memory reach the disk
// independently of one another.
const (
	sector = 512
	page   = 4096
)

var errOff = errors.New("the power is off")

// power is the power supply of a machine's disks. It fails after a number of operations.
type power struct {
	mu      sync.Mutex
	random  *rand.Rand
	left    int  // number of writes, syncs and name changes until the power fails
	lies    bool // syncs of files do nothing
	forgets bool // syncs of directories do nothing
	off     bool
	cuts    []func() error // called when the power fails, one function for each disk
	err     error          // joined errors returned by cuts
}

func (p *power) onCut(f func() error) { p.cuts = append(p.cuts, f) }

// act counts an operation of a disk, and cuts the power if the chosen number of operations is
// reached. The caller must hold mu.
func (p *power) act() error {
	if p.off {
		return errOff
	}
	if p.left--; p.left > 0 {
		return nil
	}
	p.off = true
	for _, cut := range p.cuts {
		p.err = errors.Join(p.err, cut())
	}
	return errOff
}

// A change is a write or, if data is nil, a truncation.
type change struct {
	at   int64
	data []byte
}

// A logDisk holds the files of a log and simulates power losses. Programs see the machine's own
// files. At a power loss, these are restored from the synced state. Of the writes to a file since
// its last sync, each page is kept, dropped or torn. Of the name changes since the last sync of the
// directory, either each is kept or dropped at random, or only the first ones are kept.
type logDisk struct {
	osDisk
	*power

	path   string // path of the database
	inodes map[uint64]*inode
	names  map[string]*inode // files on the disk, keyed by name
	moves  []naming          // name changes since the last sync of the directory
}

// A naming is a change of a name in a directory.
type naming struct {
	from string // name to remove; may be empty
	to   string // name to give to the file; may be empty
	file *inode
}

// An inode is the content of a file, independent of its name.
type inode struct {
	synced []byte
	writes []change
}

func newLogDisk(p *power, path string) *logDisk {
	d := &logDisk{power: p, path: path, inodes: map[uint64]*inode{}, names: map[string]*inode{}}
	p.onCut(d.cut)
	return d
}

// inode returns the inode that stands for a file of the machine.
func (d *logDisk) inode(info fs.FileInfo) *inode {
	n := info.Sys().(*syscall.Stat_t).Ino
	if d.inodes[n] == nil {
		d.inodes[n] = &inode{}
	}
	return d.inodes[n]
}

func (d *logDisk) open(name string, flags int) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, errOff
	}
	_, missing := os.Lstat(name)
	f, err := d.osDisk.open(name, flags)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if missing != nil {
		delete(d.inodes, info.Sys().(*syscall.Stat_t).Ino) // the system has reused the inode number of a removed file
	}
	i := d.inode(info)
	if missing != nil {
		d.moves = append(d.moves, naming{to: name, file: i})
		if err := d.act(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &logFile{f, d, i}, nil
}

func (d *logDisk) stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, errOff
	}
	return d.osDisk.stat(name)
}

func (d *logDisk) list(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, errOff
	}
	return d.osDisk.list(dir)
}

func (d *logDisk) rename(from, to string) error {
	return d.move(from, to, func() error { return d.osDisk.rename(from, to) })
}

func (d *logDisk) remove(name string) error {
	return d.move(name, "", func() error { return d.osDisk.remove(name) })
}

func (d *logDisk) move(from, to string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return errOff
	}
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	n := naming{from: from, to: to}
	if to != "" {
		n.file = d.inode(info)
	}
	if err := do(); err != nil {
		return err
	}
	d.moves = append(d.moves, n)
	return d.act()
}

func (d *logDisk) syncDir(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.act(); err != nil || d.forgets {
		return err
	}
	for _, n := range d.moves {
		d.bring(n)
	}
	d.moves = nil
	return nil
}

func (d *logDisk) bring(n naming) {
	delete(d.names, n.from)
	if n.to != "" {
		d.names[n.to] = n.file
	}
}

// cut replaces the machine's files with those that remain after a power loss.
func (d *logDisk) cut() error {
	first, ordered := d.random.IntN(len(d.moves)+1), d.random.IntN(2) == 0
	for i, n := range d.moves {
		if ordered && i < first || !ordered && d.random.IntN(2) == 0 {
			d.bring(n)
		}
	}
	names, err := d.osDisk.list(filepath.Dir(d.path))
	if err != nil {
		return err
	}
	for _, name := range names {
		switch strings.TrimPrefix(name, d.path) {
		case "", "-journal", "-wal", "-shm", "-turn", "-next":
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for _, name := range sorted(d.names) {
		if err := os.WriteFile(name, d.names[name].left(d.random), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// left returns the content of the file on the disk after a power loss.
func (i *inode) left(random *rand.Rand) []byte {
	data := slices.Clone(i.synced)
	for _, c := range i.writes {
		if c.data == nil {
			if random.IntN(2) == 0 {
				data = data[:min(c.at, int64(len(data)))]
			}
			continue
		}
		for at, b := c.at, c.data; len(b) > 0; {
			n := min(int64(len(b)), page-at%page)
			part, from := b[:n], at
			at, b = at+n, b[n:]
			switch random.IntN(4) {
			case 0: // drop the page, but perhaps keep the size
				if random.IntN(2) == 0 {
					data = put(data, at, nil)
				}
			case 1: // keep only the part of the page before or after a sector boundary
				middle := min(n, sector*(1+random.Int64N(page/sector))-from%sector)
				if random.IntN(2) == 0 {
					data = put(data, from, part[:middle])
				} else {
					data = put(data, from+middle, part[middle:])
				}
			default:
				data = put(data, from, part)
			}
		}
	}
	return data
}

// put writes b at the given offset of data and returns the result. It fills the gap before the
// offset with zeros.
func put(data []byte, at int64, b []byte) []byte {
	if more := at + int64(len(b)) - int64(len(data)); more > 0 {
		data = append(data, make([]byte, more)...)
	}
	copy(data[at:], b)
	return data
}

// A logFile is an open file of a logDisk.
type logFile struct {
	file
	disk *logDisk
	*inode
}

func (f *logFile) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.off {
		return 0, errOff
	}
	return f.file.ReadAt(b, at)
}

func (f *logFile) state() (int64, bool, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.off {
		return 0, false, errOff
	}
	return f.file.state()
}

func (f *logFile) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.off {
		return 0, errOff
	}
	at, _, err := f.file.state()
	if err != nil {
		return 0, err
	}
	n, err := f.file.Write(b)
	if err == nil {
		f.writes = append(f.writes, change{at, slices.Clone(b)})
		err = f.disk.act()
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (f *logFile) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.off {
		return 0, errOff
	}
	n, err := f.file.WriteAt(b, at)
	if err == nil {
		f.writes = append(f.writes, change{at, slices.Clone(b)})
		err = f.disk.act()
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (f *logFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.off {
		return errOff
	}
	if err := f.file.Truncate(size); err != nil {
		return err
	}
	f.writes = append(f.writes, change{at: size})
	return f.disk.act()
}

func (f *logFile) sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.act(); err != nil || f.disk.lies {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	f.synced = make([]byte, info.Size())
	if _, err := f.file.ReadAt(f.synced, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	f.writes = nil
	return nil
}
