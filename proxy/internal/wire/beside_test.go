package wire

import "testing"

const traced = `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`

// TestForwardedMetaIsAsShown checks that the forwarded _meta is the one that a person was shown,
// plus members that only identify the request.
func TestForwardedMetaIsAsShown(t *testing.T) {
	for name, c := range map[string]struct{ params, shown, want string }{
		"nothing":             {`{"name":"x" }`, ``, `{"name":"x" }`},
		"the same":            {`{"_meta":{ "a" : 1 ,"progressToken":1},"name":"x"}`, `{"a":1}`, `{"_meta":{ "a" : 1 ,"progressToken":1},"name":"x"}`},
		"another value":       {`{"name":"x","_meta":{"a":2,"progressToken":"p",` + traced + `}}`, `{"a":1}`, `{"name":"x","_meta":{"a":1,"progressToken":"p",` + traced + `}}`},
		"one more":            {`{"name":"x","_meta":{"a":1,"b":2},"z":1}`, `{"a":1}`, `{"name":"x","_meta":{"a":1},"z":1}`},
		"nothing was shown":   {`{"name":"x","_meta":{"b":2},"z":1}`, ``, `{"name":"x","z":1}`},
		"nothing is there":    {`{"name":"x"}`, `{"a":{"b":"}"}}`, `{"name":"x","_meta":{"a":{"b":"}"}}}`},
		"for tracing":         {`{"name":"x","_meta":{"a":1,"baggage":"force=1","tracestate":"x=y"}}`, `{"a":1}`, `{"name":"x","_meta":{"a":1}}`},
		"for tracing alone":   {`{"name":"x","_meta":{"baggage":"force=1",` + traced + `}}`, ``, `{"name":"x","_meta":{` + traced + `}}`},
		"about the hop":       {`{"name":"x","_meta":{` + hopMeta + `,"a":2}}`, `{"a":1}`, `{"name":"x","_meta":{"a":1}}`},
		"no real traceparent": {`{"name":"x","_meta":{"traceparent":"force"}}`, ``, `{"name":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, fault := parseCall(call(c.params))
			if fault != nil {
				t.Fatal(fault)
			}
			var shown []byte
			if c.shown != "" {
				shown = []byte(c.shown)
			}
			got := parsed.WithMetaShown(shown)
			if string(got.Source()) != c.want || got.Name != "x" {
				t.Errorf("got  %s\nwant %s", got.Source(), c.want)
			}
			if _, meta := got.OtherParams("name"); string(meta) != c.shown && name != "the same" {
				t.Errorf("it would be shown as %s, and %s was", meta, c.shown)
			}
			if string(shown) != c.shown {
				t.Errorf("what was shown became %s", shown)
			}
		})
	}
}
