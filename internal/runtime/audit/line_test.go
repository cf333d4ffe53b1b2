package audit

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzParseLine checks that an appended line is parsed to the same event, and that its hash covers
// all of it.
func FuzzParseLine(f *testing.F) {
	f.Add(uint64(1), []byte(`{}`))
	f.Add(uint64(9), []byte(`{"a":1}`))
	f.Add(uint64(1<<63), []byte(`{"seq":1,"hash":"`+strings.Repeat("a", 64)+`"}`))
	f.Fuzz(func(t *testing.T, before uint64, record []byte) {
		p := Place{Seq: before, Hash: [32]byte{1, byte(before)}}
		if check(record) != nil || before == 1<<64-1 {
			return
		}
		was := p
		line := p.append([]byte("x\n"), record)[2:]
		got, err := ParseLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil || got.Seq != before+1 || !got.Linked || got.Hash != p.Hash || got.Hash != Link(was.Hash, got.Seq, got.Event) {
			t.Fatalf("%q: %+v, %v", line, got, err)
		}
		if want := bytes.Trim(record[1:len(record)-1], " \t"); !bytes.Equal(bytes.TrimSpace(got.Event[1:len(got.Event)-1]), bytes.TrimSpace(bytes.TrimPrefix(want, []byte(",")))) && !bytes.HasPrefix(want, []byte(",")) {
			t.Fatalf("%q, want %q", got.Event, want)
		}
	})
}

// TestParseLine checks the parsing of lines, including those of earlier versions, which have no
// hash.
func TestParseLine(t *testing.T) {
	hash := `"hash":"` + strings.Repeat("0a", 32) + `"`
	for line, want := range map[string]string{
		`{"seq":7}`: `{}`, `{"seq":7,"a":1}`: `{"a":1}`, `{"seq":7,` + hash + `}`: `{}`, `{"seq":7,"a":1,` + hash + `}`: `{"a":1}`,
		`{"seq":7,"a":1,"hash":"0a"}`: `{"a":1,"hash":"0a"}`, `{"seq":7,"a":1,` + strings.ToUpper(hash) + `}`: `{"a":1,` + strings.ToUpper(hash) + `}`,
		``: "", `{}`: "", `{"seq":0}`: "", `{"seq":07}`: "", `{"seq":-1}`: "", `{"seq":7`: "", `{"seq":99999999999999999999}`: "", `{"seq":7}x`: "", ` {"seq":7}`: "",
	} {
		got, err := ParseLine([]byte(line))
		if string(got.Event) != want || (err == nil) != (want != "") || err == nil && got.Linked != strings.HasSuffix(line, hash+"}") {
			t.Errorf("%s: %q, %+v, %v", line, got.Event, got, err)
		}
	}
}

// TestParseHead checks that only a complete head is valid.
func TestParseHead(t *testing.T) {
	p := Place{Seq: 1<<64 - 1, Hash: [32]byte{1, 2, 3}}
	whole := appendHead(nil, p)
	if got, ok := ParseHead(whole); !ok || got != p {
		t.Errorf("%q: %+v", whole, got)
	}
	for content, want := range map[string]bool{"": true, strings.Repeat("\x00", headLength): true, strings.Replace(string(whole), " ", "-", 1): true, string(whole): false, "x": false} {
		if UnwrittenHead([]byte(content)) != want {
			t.Errorf("%q is unwritten: %t", content, !want)
		}
	}
	for _, part := range [][]byte{nil, whole[:len(whole)-1], append([]byte("0"), whole...), bytes.Replace(whole, []byte(" "), []byte("_"), 1), appendHead(nil, Place{})} {
		if got, ok := ParseHead(part); ok {
			t.Errorf("%q: %+v", part, got)
		}
	}
}
