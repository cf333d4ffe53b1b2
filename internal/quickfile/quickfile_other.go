//go:build !(linux && (amd64 || arm64))

package quickfile

import "os"

// A File uses the regular operations of [os.File] on this operating system.
type File struct{}

// Of returns a File for an open file.
func Of(*os.File) File { return File{} }

// Write appends all of b to the file.
func (*File) Write(f *os.File, b []byte) (int, error) { return f.Write(b) }

// WriteAt writes all of b at the given offset.
func (*File) WriteAt(f *os.File, b []byte, offset int64) (int, error) { return f.WriteAt(b, offset) }

// State returns the file's size. It also reports whether the file was removed; if so, further
// writes would be lost.
func (*File) State(f *os.File) (size int64, gone bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), Removed(info), nil
}
