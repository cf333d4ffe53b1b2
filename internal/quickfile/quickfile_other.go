//go:build !(linux && (amd64 || arm64))

package quickfile

import "os"

// A File is like any other here.
type File struct{}

// Of returns the quick file of a file that is open.
func Of(*os.File) File { return File{} }

// Write writes all of b at the end of the file.
func (*File) Write(f *os.File, b []byte) (int, error) { return f.Write(b) }

// WriteAt writes all of b at an offset of the file.
func (*File) WriteAt(f *os.File, b []byte, offset int64) (int, error) { return f.WriteAt(b, offset) }

// State tells the size of the file, and whether it has no name any more: what is written to
// it then is lost.
func (*File) State(f *os.File) (size int64, gone bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), Removed(info), nil
}
