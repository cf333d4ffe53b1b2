package upstream

import (
	"testing"
)

func TestUnionOfCapabilities(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{}`, `{}`, `{}`},
		{`{}`, `{"roots":{"listChanged":true},"experimental":{}}`, `{"roots":{"listChanged":true}}`},
		{`{"sampling":{"tools":{}}}`, `{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{`{"elicitation":{}}`, `{"elicitation":{"form":{},"url":{}}}`, `{"elicitation":{"form":{},"url":{}}}`},
		{`{"elicitation":{"url":{}}}`, `{"elicitation":{}}`, `{"elicitation":{"form":{},"url":{}}}`},
		{`{"sampling":{"context":{}}}`, `{"sampling":{"tools":{"x":1}}}`, `{"sampling":{"context":{},"tools":{}}}`},
		{`{"sampling":{}}`, `{"sampling":{},"tasks":{"list":{}}}`, `{"sampling":{}}`}, // which clients cannot use through the proxy
		{`{"elicitation":{}}`, `{"roots":{}}`, `{"roots":{},"elicitation":{}}`},
	} {
		got := union([]byte(c.a), []byte(c.b))
		if string(got) != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, got, c.want)
		}
		if !covers(got, []byte(c.a)) || !covers(got, []byte(c.b)) {
			t.Errorf("%s does not cover %s and %s", got, c.a, c.b)
		}
	}
	for _, c := range []struct{ have, want string }{
		{`{"elicitation":{}}`, `{"elicitation":{"url":{}}}`},
		{`{"elicitation":{"url":{}}}`, `{"elicitation":{}}`},
		{`{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{`{"sampling":{"context":{}}}`, `{"sampling":{"tools":{}}}`},
	} {
		if covers([]byte(c.have), []byte(c.want)) {
			t.Errorf("%s does not cover %s", c.have, c.want)
		}
	}
}
