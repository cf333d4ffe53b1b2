package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/diag"
)

func diagAt(line, column int) diag.Problem {
	return diag.Problem{File: "x.rules", Line: line, Column: column}
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func TestFrames(t *testing.T) {
	var out bytes.Buffer
	f := newFrames(strings.NewReader("content-length: 2\nContent-Type: x\n\n{}"+frame("{")+frame("[]")+frame(`{"a":1}`)), &out)
	var v struct{ A int }
	for _, want := range []int{0, 1} {
		if err := f.ReadObject(&v); err != nil || v.A != want {
			t.Fatal(v, err)
		}
	}
	if got := out.String(); strings.Count(got, "Content-Length") != 2 || !strings.Contains(got, `"code":-32700`) || !strings.Contains(got, `"code":-32600`) {
		t.Errorf("the answers to what is no message: %s", got)
	}
	for _, broken := range []string{
		"", "Content-Length: 5\r\n\r\nabc", "Content-Length 5\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: x\r\n\r\n",
		"Content-Length: 99999999999999999999\r\n\r\n", "X: y\r\n\r\n", strings.Repeat("a", 10000), "Content-Length: 5", strings.Repeat("a: b\r\n", 5000),
	} {
		if err := newFrames(strings.NewReader(broken), io.Discard).ReadObject(&v); err == nil {
			t.Errorf("%.30q is read", broken)
		}
	}
}

// FuzzFrames checks that frames reads back the messages that it has written, and that other input
// neither causes panics nor uses much memory.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(frame("{}")))
	f.Add([]byte("Content-Length: 99999999\r\n\r\n{}"))
	f.Add([]byte("content-length:2\n\n[]x"))
	f.Fuzz(func(t *testing.T, src []byte) {
		r := bufio.NewReader(bytes.NewReader(src))
		for {
			body, err := readFrame(r)
			if err != nil {
				break
			}
			if len(body) > len(src) {
				t.Fatal("more than there is")
			}
		}
		if !json.Valid(src) {
			return
		}
		var out bytes.Buffer
		if err := newFrames(nil, &out).WriteObject(json.RawMessage(src)); err != nil {
			t.Fatal(err)
		}
		var back json.RawMessage
		if err := newFrames(&out, io.Discard).ReadObject(&back); err != nil {
			t.Fatal(err)
		}
	})
}
