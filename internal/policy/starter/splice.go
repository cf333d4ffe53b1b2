package starter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// A key is a key of a configuration, and the text that adds it in YAML and in JSON.
type key struct{ name, yaml, json string }

// shadowKey is the key that puts the policy into shadow mode.
var shadowKey = key{"mode", "mode: shadow", `"mode": "shadow"`}

var errSplice = errors.New("the keys of the policy cannot be added to the configuration: it ends in the middle of something; add them by hand")

// splice adds keys to the text of a configuration. In block-style YAML, they are added at the end;
// in an object in braces, after the opening brace. All other bytes remain unchanged.
func splice(src []byte, keys []key) ([]byte, error) {
	if len(keys) == 0 {
		return src, nil
	}
	newline := "\n"
	if bytes.Contains(src, []byte("\r\n")) {
		newline = "\r\n"
	}
	var b bytes.Buffer
	if at := object(src); at >= 0 {
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

// object returns the offset of the opening brace if the text is an object in braces, and -1
// otherwise. Before the brace, there can only be white space, comments and a byte order mark.
func object(src []byte) int {
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
