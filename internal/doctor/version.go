package doctor

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"runtime/debug"
)

// What the go command writes into a program, see debug/buildinfo: a magic, flags, and from
// byte 32 on two strings with their lengths, the version of Go and the modules. That package
// can read older forms too, and for that every format of executables and of their debug
// information, half a megabyte of our own program.
const (
	infoMagic   = "\xff Go buildinf:"
	infoFlags   = 15
	infoInline  = 2 // of the flags: the strings follow
	infoStrings = 32
	infoFrame   = 16 // bytes before and after the text of the modules

	infoMost = 1 << 20 // bytes of both strings
)

// mainVersion returns the version of the main module of a program that Go 1.18 or later has
// built. It does not run the program.
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
			if version, ok = versionAt(f, at+int64(from)); ok { // the magic alone is in every program that looks for it
				return version, true
			}
		}
		if err != nil {
			return "", false
		}
	}
}

// versionAt reads the information whose magic is at an offset.
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

// lengthAndText reads a text with its length before it; nil: the data is too short.
func lengthAndText(b []byte) (text, rest []byte) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil
	}
	end := n + int(size)
	return b[n:end], b[end:]
}
