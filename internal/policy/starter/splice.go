package starter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// A key is a configuration key to add, with its text in YAML and in JSON.
type key struct{ name, yaml, json string }

// shadowKey is the key that puts the policy into shadow mode.
var shadowKey = key{"mode", "mode: shadow", `"mode": "shadow"`}

var errSplice = errors.New("the keys of the policy cannot be added to the configuration: it ends in the middle of something; add them by hand")

// splice adds keys to the text of a configuration. If the configuration is enclosed in braces, the
// keys follow the opening brace; otherwise, it is block-style YAML, and they are added at the end.
// All other bytes are left unchanged.
func splice(src []byte, keys []key) ([]byte, error) {
	if len(keys) == 0 {
		return src, nil
	}
	newline := "\n"
	if bytes.Contains(src, []byte("\r\n")) {
		newline = "\r\n"
	}
	var b bytes.Buffer
	if at := objectOffset(src); at >= 0 {
		b.Write(src[:at+1])
		for _, k := range keys {
			fmt.Fprintf(&b, "%s  %s,", newline, k.json)
		}
		b.Write(src[at+1:])
		return b.Bytes(), nil
	}
	b.Write(src)
	if len(src) > 0 && src[len(src)-1] != '\n' {
		b.WriteString(newline)
	}
	trimmed := bytes.TrimRight(src, "\r\n\t ")
	if bytes.HasSuffix(trimmed, []byte("\n...")) {
		return nil, errSplice
	}
	for _, k := range keys {
		b.WriteString(strings.ReplaceAll(k.yaml, "\n", newline) + newline)
	}
	return b.Bytes(), nil
}

// objectOffset returns the offset of the brace that opens the configuration src, or -1 if src is
// not enclosed in braces. Only white space, comments and a byte order mark can precede the brace.
func objectOffset(src []byte) int {
	at := 0
	for line := range bytes.Lines(src) {
		rest := bytes.TrimLeft(bytes.TrimPrefix(line, []byte("\ufeff")), " \t\r\n")
		switch {
		case bytes.HasPrefix(rest, []byte("{")):
			return at + len(line) - len(rest)
		case len(rest) > 0 && rest[0] != '#' && !bytes.HasPrefix(rest, []byte("//")):
			return -1
		}
		at += len(line)
	}
	return -1
}
