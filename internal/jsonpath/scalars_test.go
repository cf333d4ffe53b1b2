package jsonpath_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/jsonpath"
)

// TestScalar checks that equal values have equal spellings.
func TestScalar(t *testing.T) {
	for value, want := range map[string]string{
		`"a"`: `"a"`, ` "\u0061\/" `: `"a/"`, `"\""`: `"\""`, `"\n"`: `"\n"`, `""`: `""`, `"\ud83d\ude00"`: `"😀"`,
		`0`: "0", `-0`: "0", `0.000`: "0", `0e99`: "0", `7`: "7", `-7.0`: "-7", `1.50`: "1.5", `15e-1`: "1.5", `0.05`: "0.05", `5E-2`: "0.05",
		`1e2`: "100", `120e-1`: "12", `1E+2`: "100", `12.34e1`: "123.4", `1e19`: "10000000000000000000", `1e20`: "1e20",
		`100000000000000000000`: "1e20", `123456789012345678901`: "123456789012345678901e0", `1e-19`: "0.0000000000000000001", `1e-20`: "0.00000000000000000001", `1e-21`: "1e-21", `1.5e-30`: "15e-31",
		`1e999999999`: "1e999999999", `1e0000000000000007`: "10000000", `true`: "true", "\tfalse\r\n": "false",
	} {
		if got, ok := jsonpath.Scalar([]byte(value)); !ok || got != want {
			t.Errorf("%s: %s %v, want %s", value, got, ok, want)
		}
	}
	for _, value := range []string{``, ` `, `null`, `{}`, `[]`, `[1]`, `"\ud800"`, `"a`, `1e9999999999`, `1x`, `01`, `tru`, `truex`, `f`, `-`, `1 2`} {
		if got, ok := jsonpath.Scalar([]byte(value)); ok {
			t.Errorf("%s: %s, want none", value, got)
		}
	}
}

func TestScalars(t *testing.T) {
	faults := []string{jsonpath.None: "", jsonpath.Absent: "absent", jsonpath.Unfit: "unfit", jsonpath.NoElement: "no element", jsonpath.Doubtful: "doubtful", jsonpath.Excess: "excess"}
	for _, c := range []struct{ path, doc, want string }{
		{"$.a", `{"a":"x"}`, `["x"]`},
		{"$.a", `{"a":["x",1.0,1,true,"x"]}`, `["x" 1 true]`},
		{"$.a", `{"a":[]}`, "no element"},
		{"$.a", `{"a":[["x"]]}`, "unfit"},
		{"$.a", `{"a":["x",null]}`, "unfit"},
		{"$.a", `{"a":{}}`, "unfit"},
		{"$.a", `{"a":null}`, "unfit"},
		{"$.a", `{}`, "absent"},
		{"$.a", `{"A":"x"}`, "doubtful"},
		{"$.a", `{"a":"x","A":"x"}`, "doubtful"},
		{"$.a", `{"a":"x","a":"x"}`, "doubtful"},
		{"$.a", `[]`, "unfit"},
		{"$.a", `"a"`, "unfit"},
		{"$.a.b", `{"a":{"b":2}}`, "[2]"},
		{"$.a.b", `{"a":2}`, "unfit"},
		{"$.a.b", `{"a":{}}`, "absent"},
		{"$.a[*].b", `{"a":[{"b":1},{"b":[2,3]},{"b":1}]}`, "[1 2 3]"},
		{"$.a[*].b", `{"a":[{"b":1},{}]}`, "absent"},
		{"$.a[*].b", `{"a":[{"b":1},{"b":[]}]}`, "no element"},
		{"$.a[*].b", `{"a":[]}`, "no element"},
		{"$.a[*].b", `{"a":{"b":1}}`, "unfit"},
		{"$.a[1]", `{"a":[1,2,3]}`, "[2]"},
		{"$.a[1]", `{"a":[1,[2,3]]}`, "[2 3]"},
		{"$.a[1]", `{"a":[1]}`, "absent"},
		{"$.a[*]", `{"a":[1,2,3,4,5]}`, "excess"},
		{"$.a", `{"a":[1,2,3,4,4,3,2,1]}`, "[1 2 3 4]"},
		{"$.a", `{"a":[1,2,3,4,5,null]}`, "excess"},
	} {
		p, err := jsonpath.Parse(c.path)
		if err != nil {
			t.Fatal(err)
		}
		all, fault := p.Scalars([]byte(c.doc), 4)
		got := faults[fault]
		if fault == jsonpath.None {
			got = fmt.Sprint(all)
		} else if all != nil {
			t.Errorf("%s of %s: %v with a fault", c.path, c.doc, all)
		}
		if got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.path, c.doc, got, c.want)
		}
	}
	if all, fault := jsonpath.Key("$.a").Scalars([]byte(`{"$.a":7}`), 1); fault != jsonpath.None || all[0] != "7" {
		t.Errorf("%v %v", all, fault)
	}
	if all, fault := jsonpath.Scalars([]byte(`[1,2]`), 2); fault != jsonpath.None || len(all) != 2 {
		t.Errorf("%v %v", all, fault)
	}
}

// TestManyScalars checks that the limit counts only distinct scalars.
func TestManyScalars(t *testing.T) {
	list := func(count int) []byte {
		var numbers []string
		for i := range 3 * count {
			numbers = append(numbers, strconv.Itoa(i%count))
		}
		return []byte("[" + strings.Join(numbers, ",") + "]")
	}
	for _, count := range []int{1, 15, 16, 17, 1000} {
		all, fault := jsonpath.Scalars(list(count), 1000)
		if fault != jsonpath.None || len(all) != count || all[count-1] != strconv.Itoa(count-1) {
			t.Errorf("%d: %d, fault %d", count, len(all), fault)
		}
	}
	if _, fault := jsonpath.Scalars(list(1001), 1000); fault != jsonpath.Excess {
		t.Errorf("fault %d", fault)
	}
}

// TestReadable checks that unreadable array elements and excess scalars are omitted.
func TestReadable(t *testing.T) {
	for _, c := range []struct {
		path, doc, want string
		fault           jsonpath.Fault
	}{
		{"$.a[*].b", `{"a":[{"b":1},{},{"b":null},{"B":2},{"b":[]},{"b":[3,{}]},7]}`, "[1 3]", jsonpath.None},
		{"$.a", `{"a":[1,null,2,3,4,5,1]}`, "[1 2 3 4]", jsonpath.None},
		{"$.a", `{"a":"x"}`, "[x]", jsonpath.None},
		{"$.a[1].b", `{"a":[{"b":1},{}]}`, "[]", jsonpath.Absent},
		{"$.a[*].b", `{"a":[{},null]}`, "[]", jsonpath.Absent},
		{"$.a[*].b", `{"a":[]}`, "[]", jsonpath.NoElement},
		{"$.a", `{"a":1,"A":[1]}`, "[]", jsonpath.Doubtful},
	} {
		p, err := jsonpath.Parse(c.path)
		if err != nil {
			t.Fatal(err)
		}
		all, fault := p.Readable([]byte(c.doc), 4)
		if got := strings.ReplaceAll(fmt.Sprint(all), `"`, ""); got != c.want || fault != c.fault {
			t.Errorf("%s of %s: %s and %d, want %s and %d", c.path, c.doc, got, fault, c.want, c.fault)
		}
	}
}
