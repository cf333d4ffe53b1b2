package journal

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// A disk holds the files of the log. Tests have one that loses its power.
type disk interface {
	open(name string, flags int) (file, error) // with mode 0600 if it is made, and never by a symbolic link
	stat(name string) (fs.FileInfo, error)     // of the name itself
	rename(from, to string) error
	remove(name string) error
	list(dir string) (names []string, err error)
	syncDir(dir string) error // brings the names in it to the disk
}

// A file is an open one. The log is written by WriteAt, and others are opened to append, by Write.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.WriteCloser
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	state() (size int64, removed bool, err error)
	sync() error // flushes it; one goroutine at a time may call this
}

// machine is the disk of the machine.
type machine struct{}

type machineFile struct {
	*os.File
	quick   quickfile.File
	flusher quickfile.Flusher
}

func (f *machineFile) Write(b []byte) (int, error) { return f.quick.Write(f.File, b) }

func (f *machineFile) WriteAt(b []byte, offset int64) (int, error) {
	return f.quick.WriteAt(f.File, b, offset)
}

func (f *machineFile) sync() error { return f.flusher.Flush(f.File) }

func (f *machineFile) Close() error {
	f.flusher.Close()
	return f.File.Close()
}

func (f *machineFile) state() (size int64, removed bool, err error) { return f.quick.State(f.File) }

func (machine) open(name string, flags int) (file, error) {
	f, err := os.OpenFile(name, flags|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	return &machineFile{File: f, quick: quickfile.Of(f)}, nil
}

func (machine) stat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (machine) rename(from, to string) error          { return os.Rename(from, to) }
func (machine) remove(name string) error              { return os.Remove(name) }

func (machine) list(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names, err
}
