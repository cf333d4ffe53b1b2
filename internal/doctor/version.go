package doctor

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"runtime/debug"
)

// The layout of the build information that the go command writes into a program, see
// debug/buildinfo: a magic and flags, and from byte 32 on two strings with their lengths, the Go
// version and the modules. Package debug/buildinfo also reads older layouts and therefore links
// parsers for every executable format and its debug information, which would add half a megabyte to
// this program.
const (
	infoMagic   = "\xff Go buildinf:"
	infoFlags   = 15
	infoInline  = 2 // flag: the strings follow
	infoStrings = 32
	infoFrame   = 16 // bytes before and after the text of the modules

	infoMost = 1 << 20 // maximum size of both strings in bytes
)

// mainVersion returns the version of the main module of a program built by Go 1.18 or later. It
// does not run the program.
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
			if version, ok = versionAt(f, at+int64(from)); ok { // the magic alone also occurs in programs that search for it, like this one
				return version, true
			}
		}
		if err != nil {
			return "", false
		}
	}
}

// versionAt reads the build information whose magic is at an offset.
func versionAt(f io.ReaderAt, at int64) (version string, ok bool) {
	b := make([]byte, infoMost)
	n, _ := f.ReadAt(b, at) // a short read is noticed below
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

// lengthAndText reads a length and the text of that length; nil: the data is too short.
func lengthAndText(b []byte) (text, rest []byte) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil
	}
	end := n + int(size)
	return b[n:end], b[end:]
}
