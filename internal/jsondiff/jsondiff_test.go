package jsondiff

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	cards := func(value []byte) ([]byte, int) {
		if !bytes.Contains(value, []byte(`"card":`)) {
			return value, 0
		}
		return []byte(`{"card":"*** (object)"}`), 1
	}
	for _, c := range []struct {
		was, is string
		want    []string
	}{
		{`{"a":1,"b":[1,2]}`, ` { "b" : [ 1 , 2 ] , "\u0061" : 1 } `, nil},
		{`{"a":1}`, `{"a":1.0}`, []string{`$.a: 1 -> 1.0`}},
		{`{"a":"A\n"}`, `{"a":"\u0041\n"}`, nil},
		{`{"a":null}`, `{}`, []string{`$.a: removed null`}},
		{`{"a":{"b":[{"c":1},2,3]}}`, `{"a":{"b":[{"c":2},2],"x y":{}}}`, []string{`$.a.b[0].c: 1 -> 2`, `$.a.b[2]: removed 3`, `$.a["x y"]: added {}`}},
		{`[1]`, `{"a":1}`, []string{`$: [1] -> {"a":1}`}},
		{`{"card":{"n":1,"m":1}}`, `{"card":{"m":1,"n":2}}`, []string{`$.card: "*** (object)" -> another value`}},
		{`{"card":{"n":1}}`, `{"card":{ "n":1}}`, nil},
		{`{"card":1}`, `{}`, []string{`$.card: removed "*** (object)"`}},
	} {
		changes, more := Compare([]byte(c.was), []byte(c.is), 20, cards)
		var got []string
		for _, change := range changes {
			got = append(got, change.Path+": "+change.String())
		}
		if !reflect.DeepEqual(got, c.want) || more != 0 {
			t.Errorf("%s, %s: %q, want %q", c.was, c.is, got, c.want)
		}
	}
	if changes, more := Compare([]byte(`[]`), []byte(`[`+strings.Repeat("1,", 29)+`1]`), 20, nil); len(changes) != 20 || more != 10 {
		t.Errorf("%d changes and %d more", len(changes), more)
	}
	long, _ := Compare([]byte(`{"a":1}`), []byte(`{"a":"`+strings.Repeat("x", 300)+`"}`), 20, nil)
	if got := long[0].String(); !strings.HasSuffix(got, `xxx... (302 bytes)`) {
		t.Errorf("%q is cut silently", got)
	}
}
