package journal

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/quickfile"
)

// disk provides access to the log's files. Tests use a disk that can lose power.
type disk interface {
	open(name string, flags int) (file, error) // creates files with mode 0600; never follows symbolic links
	stat(name string) (fs.FileInfo, error)     // like os.Lstat
	rename(from, to string) error
	remove(name string) error
	list(dir string) (names []string, err error)
	syncDir(dir string) error // flushes a directory's entries to disk
}

// file is an open file. The log is written with WriteAt. Other files are opened for appending and
// written with Write.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.WriteCloser
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	state() (size int64, removed bool, err error)
	sync() error // flushes the file; must not be called concurrently
}

// osDisk is the operating system's disk.
type osDisk struct{}

type osFile struct {
	*os.File
	quick   quickfile.File
	flusher quickfile.Flusher
}

func (f *osFile) Write(b []byte) (int, error) { return f.quick.Write(f.File, b) }

func (f *osFile) WriteAt(b []byte, offset int64) (int, error) {
	return f.quick.WriteAt(f.File, b, offset)
}

func (f *osFile) sync() error { return f.flusher.Flush(f.File) }

func (f *osFile) Close() error {
	f.flusher.Close()
	return f.File.Close()
}

func (f *osFile) state() (size int64, removed bool, err error) { return f.quick.State(f.File) }

func (osDisk) open(name string, flags int) (file, error) {
	f, err := os.OpenFile(name, flags|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	return &osFile{File: f, quick: quickfile.Of(f)}, nil
}

func (osDisk) stat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (osDisk) rename(from, to string) error          { return os.Rename(from, to) }
func (osDisk) remove(name string) error              { return os.Remove(name) }

func (osDisk) list(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	return list.Map(entries, func(e fs.DirEntry) string { return filepath.Join(dir, e.Name()) }), err
}
