package wire

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// call returns a tools/call request with ID 7 and the given params.
func call(params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`
}

// attacks contains messages that must not be executed. code is the error code in the answer, and id
// its ID.
var attacks = []struct {
	name, raw string
	code      int
	id        string
}{
	{"case-variant duplicate", call(`{"name":"safe","Name":"danger","arguments":{}}`), CodeInvalidParams, "7"},
	{"wrong case only", call(`{"NAME":"danger"}`), CodeInvalidParams, "7"},
	{"exact duplicate", call(`{"name":"safe","name":"danger"}`), CodeParse, ""},
	{"escaped duplicate", call(`{"name":"safe","na\u006de":"danger"}`), CodeParse, ""},
	{"long s in the envelope", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe"},"paramſ":{"name":"danger"}}`, CodeInvalidRequest, "7"},
	{"Kelvin sign in task", call(`{"name":"safe","tas` + "\u212a" + `":{}}`), CodeInvalidParams, "7"},
	{"long s and Kelvin sign, escaped", call(`{"name":"safe","ta\u017f\u212a":{}}`), CodeInvalidParams, "7"},
	{"long s beside arguments", call(`{"name":"safe","arguments":{"a":1},"argument\u017f":{"a":2}}`), CodeInvalidParams, "7"},
	{"NUL behind a key", call(`{"name":"safe","name\u0000":"danger"}`), CodeParse, ""},
	{"NUL in a name", call(`{"name":"danger\u0000"}`), CodeParse, ""},
	{"NUL in an argument", call(`{"name":"bash","arguments":{"command":"rm\u0000"}}`), CodeParse, ""},
	{"method in another case", `{"jsonrpc":"2.0","id":7,"method":"ping","METHOD":"tools/call","params":{"name":"danger"}}`, CodeInvalidRequest, "7"},
	{"duplicate argument", call(`{"name":"bash","arguments":{"command":"ls","command":"rm -rf /"}}`), CodeParse, ""},
	{"duplicate argument at depth 5", call(`{"name":"x","arguments":{"a":{"b":{"c":{"d":{"e":1,"e":2}}}}}}`), CodeParse, ""},
	{"duplicate _meta", call(`{"name":"safe","_meta":{},"_meta":{}}`), CodeParse, ""},
	{"duplicate requestState", call(`{"name":"safe","requestState":"a","requestState":"b"}`), CodeParse, ""},
	{"variant of inputResponses", call(`{"name":"safe","InputResponses":{}}`), CodeInvalidParams, "7"},
	{"variant of requestState", call(`{"name":"safe","requeststate":"x"}`), CodeInvalidParams, "7"},
	{"variant of cursor", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"Cursor":"x"}}`, CodeInvalidParams, "7"},
	{"variant of _meta", call(`{"name":"safe","_Meta":{}}`), CodeInvalidParams, "7"},
	{"variant of progressToken", call(`{"name":"safe","_meta":{"progresstoken":1}}`), CodeInvalidParams, "7"},
	{"variant of protocolVersion", call(`{"name":"safe","_meta":{"io.modelcontextprotocol/ProtocolVersion":"2026-07-28"}}`), CodeInvalidParams, "7"},
	{"long s in a key of _meta", call(`{"name":"safe","_meta":{"io.modelcontextprotocol/protocolVer` + "\u017f" + `ion":"2026-07-28"}}`), CodeInvalidParams, "7"},
	{"raw byte in a name", call("{\"name\":\"r\xffm\"}"), CodeParse, ""},
	{"raw byte in an argument", call("{\"name\":\"x\",\"arguments\":{\"a\":\"r\xffm\"}}"), CodeParse, ""},
	{"lone surrogate", call(`{"name":"\ud800"}`), CodeParse, ""},
	{"byte order mark", "\ufeff" + call(`{"name":"safe"}`), CodeParse, ""},
	{"UTF-16", "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00", CodeParse, ""},
	{"hexadecimal", call(`{"name":"x","arguments":{"a":0x10}}`), CodeParse, ""},
	{"NaN", call(`{"name":"x","arguments":{"a":NaN}}`), CodeParse, ""},
	{"plus sign", call(`{"name":"x","arguments":{"a":+1}}`), CodeParse, ""},
	{"leading zero", call(`{"name":"x","arguments":{"a":01}}`), CodeParse, ""},
	{"depth 129", call(`{"name":"x","arguments":` + nested(127) + `}`), CodeParse, ""},
	{"depth 20000", call(`{"name":"x","arguments":` + nested(20_000) + `}`), CodeParse, ""},
	{"trailing data", call(`{"name":"safe"}`) + ` {"x":1}`, CodeParse, ""},
	{"two messages", call(`{"name":"safe"}`) + "\n" + call(`{"name":"danger"}`), CodeParse, ""},
	{"two messages on one line", call(`{"name":"safe"}`) + call(`{"name":"danger"}`), CodeParse, ""},
	{"line break in a string", call("{\"name\":\"sa\nfe\"}"), CodeParse, ""},
	{"half a message", `{"jsonrpc":"2.0","id":7,`, CodeParse, ""},
	{"nothing", ``, CodeParse, ""},
	{"batch", `[` + call(`{"name":"danger"}`) + `,` + call(`{"name":"safe"}`) + `]`, CodeInvalidRequest, ""},
	{"empty batch", `[]`, CodeInvalidRequest, ""},
	{"a string", `"tools/call"`, CodeInvalidRequest, ""},
	{"id null", withID(`null`), CodeInvalidRequest, ""},
	{"id an object", withID(`{"a":1}`), CodeInvalidRequest, ""},
	{"id an array", withID(`[1]`), CodeInvalidRequest, ""},
	{"id a boolean", withID(`true`), CodeInvalidRequest, ""},
	{"id a fraction", withID(`1.5`), CodeInvalidRequest, ""},
	{"id an exponent", withID(`1e3`), CodeInvalidRequest, ""},
	{"id of 21 digits", withID(strings.Repeat("1", 21)), CodeInvalidRequest, ""},
	{"id of 4 KB", withID(`"` + strings.Repeat("x", 4096) + `"`), CodeInvalidRequest, ""},
	{"method and result", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"danger"},"result":{}}`, CodeInvalidRequest, "7"},
	{"method and error", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"danger"},"error":{}}`, CodeInvalidRequest, "7"},
	{"unknown member", `{"jsonrpc":"2.0","id":7,"method":"ping","params2":{}}`, CodeInvalidRequest, "7"},
	{"__proto__", `{"jsonrpc":"2.0","id":7,"method":"ping","__proto__":{}}`, CodeInvalidRequest, "7"},
	{"no jsonrpc", `{"id":7,"method":"ping"}`, CodeInvalidRequest, "7"},
	{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, CodeInvalidRequest, "7"},
	{"jsonrpc a number", `{"jsonrpc":2.0,"id":7,"method":"ping"}`, CodeInvalidRequest, "7"},
	{"method a number", `{"jsonrpc":"2.0","id":7,"method":1}`, CodeInvalidRequest, "7"},
	{"method empty", `{"jsonrpc":"2.0","id":7,"method":""}`, CodeInvalidRequest, "7"},
	{"method too long", `{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 257) + `"}`, CodeInvalidRequest, "7"},
	{"no method", `{"jsonrpc":"2.0","id":7}`, CodeInvalidRequest, "7"},
	{"params null", call(`null`), CodeInvalidParams, "7"},
	{"params an array", call(`["danger"]`), CodeInvalidParams, "7"},
	{"_meta null", call(`{"name":"safe","_meta":null}`), CodeInvalidParams, "7"},
	{"arguments null", call(`{"name":"x","arguments":null}`), CodeInvalidParams, "7"},
	{"arguments an array", call(`{"name":"x","arguments":[]}`), CodeInvalidParams, "7"},
	{"arguments a string", call(`{"name":"x","arguments":"x"}`), CodeInvalidParams, "7"},
	{"arguments a number", call(`{"name":"x","arguments":5}`), CodeInvalidParams, "7"},
	{"no params", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, CodeInvalidParams, "7"},
	{"no name", call(`{}`), CodeInvalidParams, "7"},
	{"name empty", call(`{"name":""}`), CodeInvalidParams, "7"},
	{"name an array", call(`{"name":["danger"]}`), CodeInvalidParams, "7"},
	{"name too long", call(`{"name":"` + strings.Repeat("x", 513) + `"}`), CodeInvalidParams, "7"},
	{"tab in a name", call(`{"name":"danger\t"}`), CodeInvalidParams, "7"},
	{"DEL in a name", call("{\"name\":\"danger\x7f\"}"), CodeInvalidParams, "7"},
	{"C1 control in a name", call(`{"name":"danger\u0085"}`), CodeInvalidParams, "7"},
	{"task null", call(`{"name":"x","task":null}`), CodeInvalidParams, "7"},
	{"inputResponses an array", call(`{"name":"x","inputResponses":[]}`), CodeInvalidParams, "7"},
	{"requestState an object", call(`{"name":"x","requestState":{}}`), CodeInvalidParams, "7"},
}

func nested(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }

func withID(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"danger"}}`
}

// parseCall parses a tools/call request as the proxy does.
func parseCall(raw string) (Call, *Fault) {
	m, fault := Parse([]byte(raw), 4<<20)
	if fault != nil {
		return Call{}, fault
	}
	return ParseCall(m)
}

func TestAttacks(t *testing.T) {
	for _, tt := range attacks {
		t.Run(tt.name, func(t *testing.T) {
			c, fault := parseCall(tt.raw)
			if fault == nil {
				t.Fatalf("accepted as %+v", c)
			}
			if fault.Code != tt.code || string(fault.ID) != tt.id {
				t.Errorf("got %d for %q: %v, want %d for %q", fault.Code, fault.ID, fault, tt.code, tt.id)
			}
			if _, again := Parse(fault.Append(nil), 4<<20); again != nil && fault.ID != nil {
				t.Errorf("the answer is malformed: %s", fault.Append(nil))
			}
		})
	}
}

// TestValidLookalikesPass checks messages that look like attacks but are valid.
func TestValidLookalikesPass(t *testing.T) {
	tests := []struct{ name, params, arguments string }{
		{"depth 128", `{"name":"x","arguments":` + nested(126) + `}`, nested(126)},
		{"absent arguments", `{"name":"x"}`, ""},
		{"large numbers", `{"name":"x","arguments":{"id":12345678901234567891,"a":1.0,"b":-0,"c":1E2,"d":1e400}}`, `{"id":12345678901234567891,"a":1.0,"b":-0,"c":1E2,"d":1e400}`},
		{"cases of arguments", `{"name":"x","arguments":{"name":"a","Name":"b"}}`, `{"name":"a","Name":"b"}`},
		{"unknown members", `{"name":"x","arguments":{"__proto__":1},"vendor":1}`, `{"__proto__":1}`},
		{"line separators", `{"name":"x","arguments":{"a":"` + "\u2028\u2029\u0085" + `"}}`, `{"a":"` + "\u2028\u2029\u0085" + `"}`},
	}
	for _, tt := range tests {
		c, fault := parseCall(call(tt.params))
		if fault != nil {
			t.Errorf("%s: %v", tt.name, fault)
			continue
		}
		if c.Name != "x" || string(c.Arguments) != tt.arguments || (c.Arguments == nil) != (tt.arguments == "") {
			t.Errorf("%s: got %q with %s", tt.name, c.Name, c.Arguments)
		}
		if got := string(c.AppendForward(nil, Hop{Name: "x"})); got != tt.params {
			t.Errorf("%s: forwarded as %s", tt.name, got)
		}
	}
}

// TestLineBreaksAreNotForwarded checks that a message that hides another one behind a line break
// reaches the upstream as one line.
func TestLineBreaksAreNotForwarded(t *testing.T) {
	inner := call(`{"name":"danger"}`)
	c, fault := parseCall("{\r\n\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\",\"arguments\":{\"a\":\n" + inner + "\n}}}\r\n")
	if fault != nil {
		t.Fatal(fault)
	}
	want := `{"a": ` + inner + ` }`
	if string(c.Arguments) != want {
		t.Errorf("arguments are %q, want %q", c.Arguments, want)
	}
	if got := c.AppendForward(nil, Hop{Name: "safe"}); strings.ContainsAny(string(got), "\r\n") {
		t.Errorf("forwarded as %q", got)
	}
}

// TestFoldIsUnicodeSimpleFold checks that every rune that some parser folds to an ASCII letter is
// folded here, too.
func TestFoldIsUnicodeSimpleFold(t *testing.T) {
	for _, known := range [][]string{envelopeKeys, paramKeys, metaKeys, resultKeys, taskKeys} {
		for _, k := range known {
			if v := variantOf([]byte(k), known); v != "" {
				t.Errorf("%q is a variant of %q", k, v)
			}
		}
	}
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		want := ""
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if 'a' <= f && f <= 'z' {
				want = string(f)
			}
		}
		if got := variantOf([]byte(string(r)), letters); got != want {
			t.Errorf("%U folds to %q, want %q", r, got, want)
		}
	}
	for _, key := range []string{"", "nam", "name ", "names", strings.Repeat("n", 1000), "nаme", "üname"} {
		if v := variantOf([]byte(key), paramKeys); v != "" {
			t.Errorf("%+q is a variant of %q", key, v)
		}
	}
}

func ExampleParse() {
	_, fault := Parse([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","Name":"danger"}}`), 4<<20)
	fmt.Printf("%s\n", fault.Append(nil))
	// Output: {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"invalid params: \"Name\" differs from \"name\" in case only"}}
}
