package rawjson

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMember(t *testing.T) {
	const doc = ` { "a" : 1.50 , "na\u006de" : "x" , "o" : { "a" : 2 } , "" : [ ] } `
	tests := []struct {
		doc, key, want string
		ok             bool
	}{
		{doc, "a", "1.50", true},
		{doc, "name", `"x"`, true},
		{doc, "o", `{ "a" : 2 }`, true},
		{doc, "", "[ ]", true},
		{doc, "A", "", false},
		{`{"a":null}`, "a", "null", true},
		{`[{"a":1}]`, "a", "", false},
		{`"a"`, "a", "", false},
		{``, "a", "", false},
		{`{"a":1,"a":2}`, "a", "1", true},
		{`{"b" 1,"a":2}`, "a", "", false},
		{`{"b":,"a":2}`, "a", "", false},
	}
	for _, tt := range tests {
		got, ok := Member([]byte(tt.doc), tt.key)
		if string(got) != tt.want || ok != tt.ok {
			t.Errorf("Member(%q, %q) = %q, %v, want %q, %v", tt.doc, tt.key, got, ok, tt.want, tt.ok)
		}
	}
}

func TestMembersWhole(t *testing.T) {
	tests := []struct {
		doc   string
		n     int
		whole bool
	}{
		{`{}`, 0, true},
		{` { } `, 0, true},
		{`{"a":1,"b":2}`, 2, true},
		{`{"a":1,"b":2} x`, 2, false},
		{`{} x`, 0, false},
		{`{"a":1,"b":2`, 2, false},
		{`{"a":1,}`, 1, false},
		{`{"a":1 "b":2}`, 1, false},
		{`{"a":1,"b":[}`, 1, false},
		{`{"a\ud800":1}`, 0, false},
		{`{"a"`, 0, false},
		{`{a:1}`, 0, false},
		{`[]`, 0, false},
		{``, 0, false},
	}
	for _, tt := range tests {
		n := 0
		whole := Members([]byte(tt.doc), func(_, _ []byte, _ int) bool { n++; return true })
		if n != tt.n || whole != tt.whole {
			t.Errorf("Members(%q) = %v with %d members, want %v with %d", tt.doc, whole, n, tt.whole, tt.n)
		}
	}
	if Members([]byte(`{"a":1}`), func(_, _ []byte, _ int) bool { return false }) {
		t.Error("Members that were stopped are whole")
	}
}

func TestElements(t *testing.T) {
	tests := []struct {
		doc   string
		want  []string
		whole bool
	}{
		{`[]`, nil, true},
		{` [ 1 , "a,]" , [2] ] `, []string{"1", `"a,]"`, "[2]"}, true},
		{`[1,2] x`, []string{"1", "2"}, false},
		{`[1,]`, []string{"1"}, false},
		{`[1 2]`, []string{"1"}, false},
		{`[1`, []string{"1"}, false},
		{`{"a":1}`, nil, false},
		{``, nil, false},
	}
	for _, tt := range tests {
		var got []string
		whole := Elements([]byte(tt.doc), func(v []byte, at int) bool {
			if !strings.HasPrefix(tt.doc[at:], string(v)) {
				t.Errorf("Elements(%q): %q is not at %d", tt.doc, v, at)
			}
			got = append(got, string(v))
			return true
		})
		if !slices.Equal(got, tt.want) || whole != tt.whole {
			t.Errorf("Elements(%q) = %v with %q, want %v with %q", tt.doc, whole, got, tt.whole, tt.want)
		}
	}
}

func TestKind(t *testing.T) {
	for doc, want := range map[string]byte{
		`{}`: '{', ` [1]`: '[', `"a"`: '"', `-1`: '0', `7`: '0', `true`: 't', `false`: 'f', `null`: 'n',
		``: 0, `}`: 0, `x`: 0, `+1`: 0,
	} {
		if got := Kind([]byte(doc)); got != want {
			t.Errorf("Kind(%q) = %q, want %q", doc, got, want)
		}
	}
}

func TestLeaves(t *testing.T) {
	tests := []struct {
		doc  string
		want []string
	}{
		{`"a"`, []string{"a"}},
		{`["rm","-rf",{"x":"y","z":[1.0,1E2,true,false,null]},"\u00e9"]`, []string{"rm", "-rf", "y", "1.0", "1E2", "true", "false", "é"}},
		{`{"a" : "k" , "b" : {"c" : "" }}`, []string{"k", ""}},
		{`null`, nil},
		{`{}`, nil},
		{`["a","\ud800","b"]`, []string{"a"}},
		{`["a",x,"b"]`, []string{"a"}},
	}
	for _, tt := range tests {
		var got []string
		Leaves([]byte(tt.doc), func(s string) bool { got = append(got, s); return true })
		if !slices.Equal(got, tt.want) {
			t.Errorf("Leaves(%q) = %q, want %q", tt.doc, got, tt.want)
		}
	}
	n := 0
	Leaves([]byte(`[1,2,3]`), func(string) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("Leaves went on after it was stopped: %d", n)
	}
}

func TestString(t *testing.T) {
	for lit, want := range map[string]string{
		`"a"`: "a", `""`: "", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u00e9\ud83d\ude00"`: "é😀", `"é"`: "é",
	} {
		if got, ok := String([]byte(lit)); !ok || got != want {
			t.Errorf("String(%s) = %q, %v", lit, got, ok)
		}
		if got, ok := Bare([]byte(lit)); ok == strings.Contains(lit, `\`) || ok && string(got) != want {
			t.Errorf("Bare(%s) = %q, %v", lit, got, ok)
		}
	}
	for _, lit := range []string{``, `a`, `"`, `"a`, `"a" `, ` "a"`, `"\ud800"`, `"\u0000"`, "\"\n\"", "\"\xff\"", `1`} {
		if got, ok := String([]byte(lit)); ok {
			t.Errorf("String(%q) = %q", lit, got)
		}
		if got, ok := Bare([]byte(lit)); ok {
			t.Errorf("Bare(%q) = %q", lit, got)
		}
	}
}

func TestAppendString(t *testing.T) {
	for s, want := range map[string]string{
		"":             `""`,
		"a<b>&c":       `"a<b>&c"`,
		"\"\\/":        `"\"\\/"`,
		"\n\r\t\b\f":   `"\n\r\t\b\f"`,
		"\x00\x1f\x7f": "\"\\u0000\\u001f\x7f\"",
		"é彼😀\u2028":    "\"é彼😀\u2028\"",
		"a\xffb\xc0":   "\"a\ufffdb\ufffd\"",
		"\ufffd":       "\"\ufffd\"",
	} {
		if got := string(AppendString(nil, s)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", s, got, want)
		}
	}
}

func ExampleCheck() {
	fmt.Println(Check([]byte(`{"name": "safe", "na\u006de": "danger"}`), 128))
	// Output: offset 17: duplicate key
}

func ExampleMembers() {
	doc := []byte(`{"name": "delete", "arguments": {"id": 12345678901234567891}}`)
	Members(doc, func(key, value []byte, at int) bool {
		fmt.Printf("%s at %d: %s\n", key, at, value)
		return true
	})
	// Output:
	// name at 9: "delete"
	// arguments at 32: {"id": 12345678901234567891}
}

func TestStrings(t *testing.T) {
	for doc, want := range map[string][]string{
		`{"a":"b","\u0063":["d",1,true,null,{"e":{}}]}`: {"a", "b", "c", "d", "e"},
		`"x"`:     {"x"},
		`1`:       nil,
		``:        nil,
		`["a","b`: {"a"},
	} {
		var got []string
		Strings([]byte(doc), func(s []byte) bool { got = append(got, string(s)); return true })
		if !slices.Equal(got, want) {
			t.Errorf("Strings(%q) = %q, want %q", doc, got, want)
		}
	}
	n := 0
	Strings([]byte(`["a","b","c"]`), func([]byte) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("Strings went on after it was stopped: %d", n)
	}
}

func ExampleLeaves() {
	Leaves([]byte(`{"command": ["rm", "-rf", {"depth": 1.0, "force": true}]}`), func(leaf string) bool {
		fmt.Println(leaf)
		return true
	})
	// Output:
	// rm
	// -rf
	// 1.0
	// true
}

func FuzzString(f *testing.F) {
	f.Add("a\xff\u2028\x00\"\\")
	f.Fuzz(func(t *testing.T, s string) {
		lit := AppendString(nil, s)
		var want string
		if err := json.Unmarshal(lit, &want); err != nil || want != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Fatalf("AppendString(%q) = %s", s, lit)
		}
		if got, ok := String(lit); ok == strings.Contains(s, "\x00") || ok && got != want {
			t.Fatalf("String(%s) = %q, %v, want %q", lit, got, ok, want)
		}
	})
}

// FuzzLookups calls the lookups with documents that Check did not see.
func FuzzLookups(f *testing.F) {
	for _, doc := range accepted {
		f.Add([]byte(doc), 0)
	}
	for _, tt := range refused {
		f.Add([]byte(tt.doc), tt.offset)
	}
	f.Fuzz(func(t *testing.T, doc []byte, i int) {
		if end := Skip(doc, i); end != -1 && (end <= i || end > len(doc)) {
			t.Fatalf("Skip(%q, %d) = %d", doc, i, end)
		}
		Members(doc, func(key, value []byte, at int) bool { Member(doc, string(key)); return Kind(value) != 0 })
		Elements(doc, func(value []byte, at int) bool { return Kind(value) != 0 })
		Leaves(doc, func(string) bool { return true })
		String(doc)
	})
}
