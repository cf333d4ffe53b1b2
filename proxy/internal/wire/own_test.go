package wire

import (
	"strings"
	"testing"
)

// TestWithoutOwn checks that members with the proxy's prefix are removed at any place and in any
// notation, and that everything else stays the same byte for byte.
func TestWithoutOwn(t *testing.T) {
	for _, tt := range []struct{ doc, want string }{
		{`{"a":1.0,"_meta":{"own":1.0,"io.petrigate/decision":{"kind":"x"}}}`, `{"a":1.0,"_meta":{"own":1.0}}`},
		{`{"_meta":{"io.petrigate\u002fx":1,"io.petrigate/y":2, "own" : 1 },"a":1.0}`, `{"_meta":{ "own" : 1 },"a":1.0}`},
		{`{"_meta":{"io.petrigate/x":1}}`, `{"_meta":{}}`},
		{`{"_meta":{"own":1},"_met\u0061":{"io.petrigate/x":1},"a":1}`, `{"_meta":{"own":1},"_met\u0061":{},"a":1}`},
		{`{"_meta":{"a":1 , "\u0069o.petrigate/x" : [1,{"b":2}] , "c":3}}`, `{"_meta":{"a":1  , "c":3}}`},
		{`{"io.petrigate/decision":1}`, `{}`},
		{`{"code":1,"data":[{"io.petrigate\/decision":1,"x":2}]}`, `{"code":1,"data":[{"x":2}]}`},
		{`{"x":{"IO.Petrigate/decision":1}}`, `{"x":{}}`},
		{`{"text":"io.petrigate/x: 1","a":["io.petrigate/x"]}`, `{"text":"io.petrigate/x: 1","a":["io.petrigate/x"]}`},
		{`{"io.petrigat":1,"xio.petrigate/":2,"io":"/","a/":"\u003c\/"}`, `{"io.petrigat":1,"xio.petrigate/":2,"io":"/","a/":"\u003c\/"}`},
		{`{"io.petrigate/x":`, `null`},
		{`{"a":"\u0070`, `null`},
		{``, ``},
	} {
		if got := string(withoutOwn([]byte(tt.doc))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.doc, got, tt.want)
		}
		for _, slashes := range []string{`{"lines":"` + strings.Repeat(`\n`, 100) + `"}`, `["` + strings.Repeat("/", 100) + `"]`} { // then only keys are checked
			want := slashes + tt.want
			if tt.want == "null" {
				want = "null"
			}
			if got := string(withoutOwn([]byte(slashes + tt.doc))); got != want {
				t.Errorf("after many slashes, %s: got %s, want %s", tt.doc, got, want)
			}
		}
	}
	broken := strings.Repeat(`\n/`, 100) + `{"a":"`
	if got := string(withoutOwn([]byte(broken))); got != broken {
		t.Errorf("a document that does not name us and cannot be read: got %s", got)
	}
}

// BenchmarkWithoutOwn measures the cost for documents without the prefix.
func BenchmarkWithoutOwn(b *testing.B) {
	for name, text := range map[string]string{"text": "some text \\n ", "base64": "aGVsbG8/d29y+"} {
		doc := []byte(`{"a":"` + strings.Repeat(text, 1<<20/len(text)) + `"}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				withoutOwn(doc)
			}
		})
	}
}
