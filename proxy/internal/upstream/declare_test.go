package upstream

import (
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

func TestUnionOfCapabilities(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{}`, `{}`, `{}`},
		{`{}`, `{"roots":{"listChanged":true},"experimental":{}}`, `{"roots":{"listChanged":true}}`},
		{`{"sampling":{"tools":{}}}`, `{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{`{"elicitation":{}}`, `{"elicitation":{"form":{},"url":{}}}`, `{"elicitation":{"form":{},"url":{}}}`},
		{`{"elicitation":{"url":{}}}`, `{"elicitation":{}}`, `{"elicitation":{"form":{},"url":{}}}`},
		{`{"sampling":{"context":{}}}`, `{"sampling":{"tools":{"x":1}}}`, `{"sampling":{"context":{},"tools":{}}}`},
		{`{"sampling":{}}`, `{"sampling":{},"tasks":{"list":{}}}`, `{"sampling":{}}`}, // which clients have not through us
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

// TestInquiriesAreBounded: a server that asks faster than anybody answers is
// refused, and each request has one answer.
func TestInquiriesAreBounded(t *testing.T) {
	var table inquiries
	answers := 0
	ask := func(id string) *Inquiry {
		return table.take(wire.Message{Kind: wire.Request, ID: []byte(id), Method: "roots/list"}, func([]byte) { answers++ })
	}
	first := ask("1")
	if ask("1") != nil {
		t.Error("one id stands for two requests")
	}
	for i := range 2 * maxInquiries {
		ask(`"` + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `"`)
	}
	if n := len(table.byID); n != maxInquiries {
		t.Errorf("%d wait", n)
	}
	first.Result([]byte(`{}`))
	first.Refuse(1, "again")
	if answers != 1 || first.Context().Err() == nil {
		t.Errorf("%d answers", answers)
	}
	second := ask("1")
	table.cancelled([]byte(`{"requestId":1}`))
	second.Result([]byte(`{}`))
	table.close()
	if answers != 1 || second.Context().Err() == nil || ask("2") != nil {
		t.Errorf("%d answers after the end", answers)
	}
}
