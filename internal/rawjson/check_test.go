package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var accepted = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `1.0`, `1E2`, `1e+2`, `1e-2`, `0.10`, `1e400`,
	`12345678901234567891`, `""`, `"a"`, ` "a" `, "\t\r\n{}\n", `{}`, `[]`, `[[]]`, `[1,2]`,
	`{"a":1,"A":2}`, `{"a":{"a":{"a":1}}}`, `[{"a":1},{"a":1}]`, `{"":1}`,
	`"\"\\\/\b\f\n\r\t\u0041\u00e9"`, `"\ud83d\ude00"`, `"é 彼 😀"`, "\"\ufeff\u2028\u007f\"",
	`{"a" : [ 1 , { "b" : null } ] }`, `{"na\u006de":1}`, `"\uD83D\uDE00"`, `"12345678\n"`,
}

var refused = []struct {
	doc    string
	offset int
	msg    string // part of the message
}{
	{``, 0, "unexpected end"},
	{` `, 1, "unexpected end"},
	{`nul`, 0, "want a value"},
	{`nullx`, 4, "end of the document"},
	{`True`, 0, "want a value"},
	{`NaN`, 0, "want a value"},
	{`Infinity`, 0, "want a value"},
	{`01`, 1, "end of the document"},
	{`-01`, 2, "end of the document"},
	{`+1`, 0, "want a value"},
	{`.5`, 0, "want a value"},
	{`1.`, 0, "want a value"},
	{`1.e2`, 0, "want a value"},
	{`1e`, 0, "want a value"},
	{`1e+`, 0, "want a value"},
	{`-`, 0, "want a value"},
	{`0x10`, 1, "end of the document"},
	{`{} {}`, 3, "end of the document"},
	{"{}\n{}", 3, "end of the document"},
	{"{}\x00", 2, "end of the document"},
	{"\x00", 0, "want a value"},
	{"\ufeff{}", 0, "byte order mark"},
	{"{}\ufeff", 2, "end of the document"},
	{"\u00a0{}", 0, "want a value"},
	{"\v{}", 0, "want a value"},
	{"\xff\xfe{\x00}\x00", 0, "want a value"},
	{`{"a":1,"a":2}`, 7, "duplicate key"},
	{`{"name":1,"na\u006de":2}`, 10, "duplicate key"},
	{`{"na\u006de":1,"name":2}`, 15, "duplicate key"},
	{`{"😀":1,"\ud83d\ude00":2}`, 10, "duplicate key"},
	{`{"a/":1,"a\/":2}`, 8, "duplicate key"},
	{`[{"b":[{"a":{"c":1,"c":1}}]}]`, 19, "duplicate key"},
	{`{"x":{"y":1},"x":2}`, 13, "duplicate key"},
	{`{"":1,"":2}`, 6, "duplicate key"},
	{"\"r\xffm\"", 2, "invalid UTF-8"},
	{"{\"r\xff\":1}", 3, "invalid UTF-8"},
	{"\"\xc0\x80\"", 1, "invalid UTF-8"},
	{"\"\xed\xa0\x80\"", 1, "invalid UTF-8"},
	{"\"\xf4\x90\x80\x80\"", 1, "invalid UTF-8"},
	{`"\ud800"`, 1, "lone surrogate"},
	{`"\udc00"`, 1, "lone surrogate"},
	{`"\ud800\ud800"`, 1, "lone surrogate"},
	{`"\udc00\ud800"`, 1, "lone surrogate"},
	{`"\ud800x"`, 1, "lone surrogate"},
	{`{"\ud800":1}`, 2, "lone surrogate"},
	{`"a\u0000"`, 2, "NUL"},
	{`{"name\u0000":1}`, 6, "NUL"},
	{"\"a\x00\"", 2, "control character"},
	{"\"a\nb\"", 2, "control character"},
	{"\"12345678\tb\"", 9, "control character"},
	{`"\x41"`, 1, "invalid escape"},
	{`"\u00g0"`, 1, "invalid escape"},
	{`"\u00`, 1, "invalid escape"},
	{`"\`, 1, "invalid escape"},
	{`"abc`, 4, "unterminated"},
	{`"abc\"`, 6, "unterminated"},
	{`{`, 1, "want a key"},
	{`{"a"`, 4, "want ':'"},
	{`{"a" 1}`, 5, "want ':'"},
	{`{"a":}`, 5, "want a value"},
	{`{"a":1,}`, 7, "want a key"},
	{`{,}`, 1, "want a key"},
	{`{a:1}`, 1, "want a key"},
	{`{'a':1}`, 1, "want a key"},
	{`{"a":1 "b":2}`, 7, "want ',' or '}'"},
	{`{"a":1]`, 6, "want ',' or '}'"},
	{`[1,]`, 3, "want a value"},
	{`[,1]`, 1, "want a value"},
	{`[1 2]`, 3, "want ',' or ']'"},
	{`[1}`, 2, "want ',' or ']'"},
	{`[`, 1, "want a value"},
	{`]`, 0, "want a value"},
	{`{"a":1} // c`, 8, "end of the document"},
	{`/* c */ 1`, 0, "want a value"},
}

func TestCheckAccepts(t *testing.T) {
	for _, doc := range accepted {
		if err := Check([]byte(doc), 128); err != nil {
			t.Errorf("Check(%q): %v", doc, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, tt := range refused {
		err := Check([]byte(tt.doc), 128)
		var s *SyntaxError
		if !errors.As(err, &s) {
			t.Errorf("Check(%q) = %v, want a SyntaxError", tt.doc, err)
			continue
		}
		if s.Offset != tt.offset || !strings.Contains(s.Msg, tt.msg) {
			t.Errorf("Check(%q) = %v, want offset %d: %s", tt.doc, err, tt.offset, tt.msg)
		}
	}
}

func TestCheckDepth(t *testing.T) {
	nest := func(open, inner, shut string, n int) []byte {
		return []byte(strings.Repeat(open, n) + inner + strings.Repeat(shut, n))
	}
	tests := []struct {
		doc []byte
		max int
		ok  bool
	}{
		{[]byte(`1`), 0, true},
		{[]byte(`{}`), 0, false},
		{nest("[", "", "]", 64), 128, true},
		{nest("[", "", "]", 128), 128, true},
		{nest("[", "", "]", 129), 128, false},
		{nest(`{"a":`, "1", "}", 128), 128, true},
		{nest(`{"a":`, "1", "}", 129), 128, false},
		{nest("[", "", "]", 20_000), 128, false},
		{nest("[", "", "]", MaxDepth), 1 << 30, true},
		{nest("[", "", "]", MaxDepth+1), 1 << 30, false},
		{bytes.Repeat([]byte("["), 4<<20), 128, false},
	}
	for _, tt := range tests {
		err := Check(tt.doc, tt.max)
		if (err == nil) != tt.ok {
			t.Errorf("Check(%.20s..., %d), %d bytes: %v", tt.doc, tt.max, len(tt.doc), err)
		}
	}
}

// TestCheckManyKeys checks duplicates among few and many keys, with escapes, and in sibling
// objects.
func TestCheckManyKeys(t *testing.T) {
	for _, n := range []int{2, fewKeys - 1, fewKeys, fewKeys + 1, 33, 1000, 100_000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"key%d":{"key0":0},`, i)
		}
		all := b.String()
		fresh := "[{" + all[:len(all)-1] + "},{" + all[:len(all)-1] + "}]"
		if err := Check([]byte(fresh), 128); err != nil {
			t.Errorf("%d keys: %v", n, err)
		}
		for _, key := range []string{"key0", `\u006bey1`, fmt.Sprint("key", n-1)} {
			doc := "{" + all + `"` + key + `":1}`
			var s *SyntaxError
			if err := Check([]byte(doc), 128); !errors.As(err, &s) || s.Msg != "duplicate key" || s.Offset != len(all)+1 {
				t.Errorf("%d keys and %s again: %v", n, key, err)
			}
		}
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	doc := []byte(callMessage)
	if n := testing.AllocsPerRun(100, func() { _ = Check(doc, 128) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSyntaxErrorText(t *testing.T) {
	err := Check([]byte(`{"a":1,"a":2}`), 128)
	if got, want := err.Error(), "offset 7: duplicate key"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzCheck(f *testing.F) {
	for _, doc := range accepted {
		f.Add([]byte(doc))
	}
	for _, tt := range refused {
		f.Add([]byte(tt.doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		const depth = 8
		got := Check(doc, depth) == nil
		if got && !json.Valid(doc) {
			t.Fatalf("accepted %q, which is no JSON", doc)
		}
		if want := slowCheck(doc, depth); got != want {
			t.Fatalf("Check(%q) accepts: %v, the reference: %v", doc, got, want)
		}
		if got {
			checkLookups(t, doc)
		}
	})
}
