package doctor

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"runtime/debug"
)

// Layout of the build information that the go command writes into a program. It starts with a magic
// number and flags. Two strings begin at byte 32, each preceded by its length: the Go version and
// the list of modules. Package debug/buildinfo also reads older layouts, but links parsers for many
// executable formats, which would add half a megabyte to this program.
const (
	infoMagic   = "\xff Go buildinf:"
	infoFlags   = 15
	infoInline  = 2 // flag that is set if the strings themselves follow, rather than pointers to them
	infoStrings = 32
	infoFrame   = 16 // number of bytes to skip at each end of the list of modules

	infoMost = 1 << 20 // maximum size of the build information, in bytes
)

// mainVersion returns the version of the main module of a program built by Go 1.18 or later,
// without running the program.
func mainVersion(program string) (version string, ok bool) {
	f, err := os.Open(program)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const step = 1 << 20
	buf := make([]byte, step+len(infoMagic))
	for at := int64(0); ; at += step {
		n, err := f.ReadAt(buf, at)
		for from := 0; ; from++ {
			i := bytes.Index(buf[from:n], []byte(infoMagic))
			if i < 0 {
				break
			}
			from += i
			if version, ok = versionAt(f, at+int64(from)); ok { // the magic number also occurs in programs that search for it, such as this one
				return version, true
			}
		}
		if err != nil {
			return "", false
		}
	}
}

// versionAt returns the main module's version from the build information at the given offset.
func versionAt(f io.ReaderAt, at int64) (version string, ok bool) {
	b := make([]byte, infoMost)
	n, _ := f.ReadAt(b, at) // a short read is handled below
	if b = b[:n]; len(b) < infoStrings || b[infoFlags]&infoInline == 0 {
		return "", false
	}
	compiler, rest := lengthAndText(b[infoStrings:])
	modules, _ := lengthAndText(rest)
	if !bytes.HasPrefix(compiler, []byte("go")) && !bytes.HasPrefix(compiler, []byte("devel ")) || len(modules) < 2*infoFrame {
		return "", false
	}
	info, err := debug.ParseBuildInfo(string(modules[infoFrame : len(modules)-infoFrame]))
	if err != nil {
		return "", false
	}
	return info.Main.Version, true
}

// lengthAndText reads a length and a string of that length. It returns nil if b is too short.
func lengthAndText(b []byte) (text, rest []byte) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil
	}
	end := n + int(size)
	return b[n:end], b[end:]
}
