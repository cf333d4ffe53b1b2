package gate_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// FuzzKeyValues reads the values of two documents as a key does and compares them by the semantics
// of [encoding/json]: equal strings, numbers and booleans are the same value, different ones are
// different values, and anything else has no value.
func FuzzKeyValues(f *testing.F) {
	for _, pair := range [][2]string{
		{`"a"`, `"\u0061"`}, {`1`, `1.0`}, {`100`, `1e2`}, {`-0`, `0.0e5`}, {`1`, `"1"`}, {`true`, `"true"`}, {`true`, `false`},
		{`[1,"a",true]`, `[true , 1e0,"a"]`}, {`[]`, `{}`}, {`null`, `[null]`}, {`[["a"]]`, `{"a":1}`}, {`"\/"`, `"/"`},
		{`9007199254740993`, `9007199254740992`}, {`0.1`, `0.10000000000000001`}, {`1e400`, `10e399`}, {`1e9999999999`, `1e999999999`},
		{`"\ud83d\ude00"`, `"😀"`}, {`"\ud800"`, `"\ufffd"`}, {`"\u0000"`, `""`}, {`"a,b"`, `"#"`}, {`"` + strings.Repeat("x", 300) + `"`, `"` + strings.Repeat("x", 301) + `"`},
		{`123456789012345678901`, `1.23456789012345678901e20`}, {`-1.5e-30`, `-15E-31`}, {`0e99999999999`, `0`}, {`"é"`, `"e\u0301"`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	n := limitNet("post", 1, "session")
	n.Key = []gate.Field{{Path: "k"}}
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		seen, meant := make(map[string]string), make(map[string]string) // compare in both directions
		for _, doc := range [][]byte{a, b} {
			all, ok := keysOf(p, doc)
			if !json.Valid(doc) || len(doc) > 10_000 {
				continue
			}
			whole, values := make(map[string]bool), elements(doc)
			fit := len(values) > 0
			for _, v := range values {
				one, is := keysOf(p, v)
				meaning, scalar := meaningOf(v)
				if !is || !scalar {
					fit = false
					if is {
						t.Errorf("%s has the values %q", v, one)
					}
					if scalar && !far(v) {
						t.Errorf("%s has no value", v)
					}
					continue
				}
				if len(one) != 1 || seen[meaning] != "" && seen[meaning] != one[0] || meant[one[0]] != "" && meant[one[0]] != meaning {
					t.Fatalf("%s has the values %q; %s was %q, and %q was %s", v, one, meaning, seen[meaning], one[0], meant[one[0]])
				}
				seen[meaning], meant[one[0]] = one[0], meaning
				whole[one[0]] = true
			}
			if fit = fit && len(whole) <= 1000; ok != fit || fit && !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(maps.Keys(whole))) {
				t.Errorf("%s has the values %q, its elements %v", doc, all, whole)
			}
		}
	})
}

// keysOf returns the values of a call with the document in its field.
func keysOf(p *gate.Policy, doc []byte) (values []string, ok bool) {
	args := append(append([]byte(`{"k":`), doc...), '}')
	d, delta := p.Decide(p.NewState(nil), gate.Call{Tool: "post", Args: args}, nil)
	if _, ok := d.(*gate.Allow); !ok {
		return nil, false
	}
	for _, n := range delta.Nets {
		values = append(values, n.Key)
	}
	return values, true
}

// elements returns the elements of a list, or the document itself.
func elements(doc []byte) (all []json.RawMessage) {
	if doc = bytes.TrimSpace(doc); doc[0] != '[' {
		return []json.RawMessage{doc}
	}
	_ = json.Unmarshal(doc, &all)
	for i := range all { // a nested list has no value
		if all[i][0] == '[' {
			all[i] = []byte("null")
		}
	}
	return all
}

// meaningOf returns a text that is the same for equal scalars.
func meaningOf(doc []byte) (meaning string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	_ = d.Decode(&v)
	switch v := v.(type) {
	case string:
		return "string " + v, true
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v], true
	case json.Number:
		return "number " + digitsOf(string(v)), true
	default:
		return "", false
	}
}

// digitsOf returns a number as its significant digits and the exponent of the last digit.
func digitsOf(number string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	e, ok := new(big.Int).SetString(strings.TrimPrefix(exponent, "+"), 10)
	if !ok {
		e = new(big.Int)
	}
	whole, part, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+part, "0")
	if digits == "" {
		return "0"
	}
	e.Sub(e, big.NewInt(int64(len(part))))
	significant := strings.TrimRight(digits, "0")
	e.Add(e, big.NewInt(int64(len(digits)-len(significant))))
	if mantissa[0] == '-' {
		significant = "-" + significant
	}
	return significant + "e" + e.String()
}

// far reports whether a key may reject the scalar: a number with an exponent of more than nine
// digits, or a string with NUL or invalid Unicode.
func far(doc []byte) bool {
	var s string
	if json.Unmarshal(doc, &s) == nil {
		return strings.ContainsAny(s, "\ufffd\x00")
	}
	i := bytes.IndexAny(doc, "eE")
	return i >= 0 && len(bytes.TrimLeft(doc[i+1:], "+-0")) > 9
}
