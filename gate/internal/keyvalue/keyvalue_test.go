package keyvalue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/trie"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// fields returns argument fields with these paths.
func fields(paths ...string) (all []toolnet.Field) {
	for _, p := range paths {
		all = append(all, toolnet.Field{Path: p})
	}
	return all
}

// texts returns the values of a reading, or its fault.
func texts(r *keyvalue.Reading) string {
	if r.Fault != jsonpath.None {
		return fmt.Sprintf("fault %d in field %d", r.Fault, r.Field)
	}
	var all []string
	for i := range r.Values {
		if v := &r.Values[i]; v.Hash == trie.Hash(v.Text) && v.Text == keyvalue.Text(v.Named) {
			all = append(all, v.Text)
		}
	}
	return strings.Join(all, " ")
}

func TestKeysAreCollectedOnce(t *testing.T) {
	var s keyvalue.Set
	a := s.Number(fields("path"))
	b := s.Number(fields("$.at.host", "path"))
	result := toolnet.Field{Path: "$.id", Result: true}
	c := s.Number([]toolnet.Field{result})
	if again := s.Number(fields("path")); a != again || b == a || s.Len() != 3 {
		t.Errorf("%d %d %d of %d", a, again, b, s.Len())
	}
	if k := s.At(a); k.Result || !k.Mixed || k.Names() != "path" {
		t.Errorf("%+v", k)
	}
	if k := s.At(b); k.Names() != "$.at.host, path" {
		t.Errorf("%+v", k)
	}
	if k := s.At(c); !k.Result || k.Mixed {
		t.Errorf("%+v", k)
	}
}

func TestCallReaderReadsKeys(t *testing.T) {
	var s keyvalue.Set
	one, two := s.Number(fields("path")), s.Number(fields("$.at.host", "path"))
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	list := "[" + strings.Join(many, ",") + "]"
	for _, c := range []struct{ args, one, two string }{
		{`{"path":"\u0061","at":{"host":1.0}}`, `"a"`, `1,"a"`},
		{`{"path":["a","b"],"at":{"host":[1,2]}}`, `"a" "b"`, `1,"a" 1,"b" 2,"a" 2,"b"`},
		{`{"path":true}`, `true`, fmt.Sprintf("fault %d in field 0", jsonpath.Absent)},
		{``, fmt.Sprintf("fault %d in field 0", jsonpath.Absent), fmt.Sprintf("fault %d in field 0", jsonpath.Absent)},
		{`{"path":` + list + `,"at":{"host":` + list + `}}`, strings.Join(many, " "), fmt.Sprintf("fault %d in field 1", jsonpath.Excess)},
	} {
		carrier := keyvalue.CallReader{Set: &s, Call: &toolnet.Call{Args: []byte(c.args)}}
		for range 2 { // the second read returns the cached values
			if got := texts(carrier.Key(one)); got != c.one {
				t.Errorf("%s: %s, want %s", c.args, got, c.one)
			}
			if got := texts(carrier.Key(two)); got != c.two {
				t.Errorf("%s: %s, want %s", c.args, got, c.two)
			}
		}
	}
}

// expression is a reader that has the value "x", has no value, or panics.
type expression struct{}

func (expression) Value(_ *toolnet.Call, number int) ([]byte, bool) {
	if number == 2 {
		panic("fails")
	}
	return []byte(`"x"`), number == 0
}

func TestExpressions(t *testing.T) {
	var s keyvalue.Set
	unfit := fmt.Sprintf("fault %d in field 0", jsonpath.Unfit)
	for number, want := range []string{`"x"`, unfit, unfit} {
		key := s.Number([]toolnet.Field{{Reader: expression{}, Number: number}})
		carrier := keyvalue.CallReader{Set: &s, Call: &toolnet.Call{}}
		if got := texts(carrier.Key(key)); got != want {
			t.Errorf("%d: %s, want %s", number, got, want)
		}
	}
}

func TestResults(t *testing.T) {
	var s keyvalue.Set
	key := s.Number([]toolnet.Field{{Path: "$.id", Result: true}, {Path: "path"}})
	for result, want := range map[string]string{
		`{"id":[1,2]}`: `1,"a" 2,"a"`,
		``:             fmt.Sprintf("fault %d in field 0", jsonpath.Absent),
	} {
		carrier := keyvalue.CallReader{Set: &s, Result: []byte(result)}
		if result == "" {
			carrier.Result = nil
		}
		carrier.ReadResult()
		carrier.Call = &toolnet.Call{Args: []byte(`{"path":"a"}`)}
		if got := texts(carrier.Key(key)); got != want {
			t.Errorf("%s: %s, want %s", result, got, want)
		}
	}
}

func TestTextsAreReadBack(t *testing.T) {
	if text := keyvalue.Text(nil); text != "" {
		t.Errorf("none is %q", text)
	}
	var s keyvalue.Set
	k := s.At(s.Number(fields("a", "b")))
	parts := []toolnet.KeyValue{{Field: "a", Value: `"x,y"`}, {Field: "b", Value: "2"}}
	if got := k.ParseText(keyvalue.Text(parts)); fmt.Sprint(got) != fmt.Sprint(parts) {
		t.Errorf("%v", got)
	}
	long := func(end string) string {
		return keyvalue.Text([]toolnet.KeyValue{{Value: `"` + strings.Repeat("x", 300) + end + `"`}, {Value: "2"}})
	}
	if a, b := long("a"), long("b"); a == b || len(a) > 200 || a[0] != '#' {
		t.Errorf("%s and %s", a, b)
	}
	want := []toolnet.KeyValue{{Field: "a, b", Value: `"` + strings.Repeat("x", 59) + `…"`}}
	if got := k.ParseText(long("a")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ want, value string }{
		{"1.5", "1.5"}, {"true", "true"}, {"prod.db", `"prod.db"`}, {"/a/B-1:2", `"/a/B-1:2"`},
		{`"true"`, `"true"`}, {`"false"`, `"false"`}, {`"null"`, `"null"`}, {`""`, `""`}, {`"1a"`, `"1a"`},
		{`"a b"`, `"a b"`}, {`"-a"`, `"-a"`}, {`"a\u202eb"`, "\"a\u202eb\""}, {`"a."`, `"a."`}, {`"a:"`, `"a:"`}, {`"\n"`, `"\n"`},
		{strings.Repeat("x", 64), `"` + strings.Repeat("x", 64) + `"`},
		{`"` + strings.Repeat("x", 64) + `…"`, `"` + strings.Repeat("x", 65) + `"`},
	} {
		if got := keyvalue.Format([]toolnet.KeyValue{{Value: c.value}}); got != c.want {
			t.Errorf("%s: %s, want %s", c.value, got, c.want)
		}
	}
	if got := keyvalue.Format([]toolnet.KeyValue{{Value: `"h"`}, {Value: `"a b"`}}); got != `h, "a b"` {
		t.Error(got)
	}
}

func TestExplain(t *testing.T) {
	var s keyvalue.Set
	plain, expr := s.Number(fields("id", "path")), s.Number([]toolnet.Field{{Reader: expression{}, Number: 1, Source: "size(args)"}})
	many := "[" + strings.Repeat("1,", 1000) + "2]"
	for _, c := range []struct {
		key        int
		args, want string
	}{
		{plain, `{}`, "`id`: the call has no such value."},
		{plain, `{"id":1}`, "`path`: the call has no such value."},
		{plain, `{"id":{}}`, "`id`: it must be a string, a number, true or false, or a list of those."},
		{plain, `{"id":[]}`, "`id`: the list is empty."},
		{plain, `{"id":1,"ID":2}`, "`id`: another key of the call differs from it only in letter case."},
		{plain, `{"id":[1,2],"path":` + numbers(501) + `}`, "`path`: the call has more than 1000."},
		{plain, `{"id":` + numbers(1001) + `}`, "`id`: the call has more than 1000."},
		{plain, `{"id":` + many + `,"path":1}`, ""},
		{expr, `{}`, "`size(args)`: the expression has no value for this call."},
	} {
		carrier := keyvalue.CallReader{Set: &s, Call: &toolnet.Call{Args: []byte(c.args)}}
		switch r := carrier.Key(c.key); {
		case c.want == "":
			if r.Fault != jsonpath.None {
				t.Errorf("%.40s: %s", c.args, r.Explain(s.At(c.key), "x"))
			}
		case r.Explain(s.At(c.key), "delete") != "delete needs a value in "+c.want:
			t.Errorf("%.40s: %s\nwant %s", c.args, r.Explain(s.At(c.key), "delete"), c.want)
		}
	}
}

// numbers returns a list with the given number of distinct numbers.
func numbers(count int) string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

func TestReadable(t *testing.T) {
	for text, want := range map[string]bool{`{"a":1}`: true, `7`: true, ``: false, `{"a":1,"a":2}`: false, `"` + strings.Repeat("x", 1<<20) + `"`: false} {
		if keyvalue.Readable([]byte(text)) != want {
			t.Errorf("%.20s: not %v", text, want)
		}
	}
}
