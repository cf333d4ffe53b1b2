package config

import (
	"path/filepath"
	"testing"
)

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "lf"), []byte("token\n"))
	put(t, filepath.Join(dir, "crlf"), []byte("token\r\n"))
	put(t, filepath.Join(dir, "two"), []byte(" a\nb\n\n"))
	e := &environment{dir: dir, lookup: from(map[string]string{"V": "v", "EMPTY": "", "AGAIN": "${V} $$", "V_2": "w"})}
	tests := []struct{ text, want, problem string }{
		{text: "", want: ""},
		{text: "plain", want: "plain"},
		{text: "${V}", want: "v"},
		{text: "a${V}b${env:V}c${V_2}", want: "avbvcw"},
		{text: "${EMPTY}", want: ""},
		{text: "${AGAIN}", want: "${V} $$"},
		{text: "${NONE:-}", want: ""},
		{text: "${NONE:-d e:-f $x}", want: "d e:-f $x"},
		{text: "${env:NONE:-d}", want: "d"},
		{text: "${EMPTY:-d}", want: "d"},
		{text: "${V:-d}", want: "v"},
		{text: "${V:?m}", want: "v"},
		{text: "$", want: "$"},
		{text: "$V $1 5$ $", want: "$V $1 5$ $"},
		{text: "$$", want: "$"},
		{text: "$${V}", want: "${V}"},
		{text: "$$${V}", want: "$v"},
		{text: "}${V}}", want: "}v}"},
		{text: "${file:lf}", want: "token"},
		{text: "${file:crlf}", want: "token"},
		{text: "${file:two}", want: " a\nb\n"},
		{text: "${file:" + filepath.Join(dir, "lf") + "}", want: "token"},
		{text: "${NONE}", problem: "the variable NONE is not set"},
		{text: "${env:NONE}", problem: "the variable NONE is not set"},
		{text: "${NONE:?}", problem: "the variable NONE is not set: it is required"},
		{text: "${EMPTY:?why: x}", problem: "the variable EMPTY is not set: why: x"},
		{text: "${", problem: "${ is never closed"},
		{text: "${V", problem: "${ is never closed"},
		{text: "${}", problem: `unknown expression "${}"`},
		{text: "${ V }", problem: `unknown expression "${ V }"`},
		{text: "${1}", problem: `unknown expression "${1}"`},
		{text: "${V-d}", problem: `unknown expression "${V-d}"`},
		{text: "${input:x}", problem: `unknown expression "${input:x}"`},
		{text: "${env:}", problem: `unknown expression "${env:}"`},
		{text: "${V:-${V}}", problem: "nested ${...} is not supported"},
		{text: "${file:}", problem: "${file:} names no file"},
		{text: "${file:none}", problem: "reading the file of ${file:none}: no such file or directory"},
	}
	for _, test := range tests {
		got, bad := e.expand(test.text)
		switch {
		case bad != nil && bad.msg != test.problem:
			t.Errorf("%q: got the problem %q, want %q", test.text, bad.msg, test.problem)
		case bad == nil && test.problem != "":
			t.Errorf("%q: got %q, want the problem %q", test.text, got, test.problem)
		case got != test.want:
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}
