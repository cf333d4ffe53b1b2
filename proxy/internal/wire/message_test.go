package wire

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		raw            string
		kind           Kind
		id, method     string
		params, result string
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, "1", "ping", "", ""},
		{` { "jsonrpc" : "2.0" , "id" : "a\u0062" , "method" : "tools\/list" , "params" : { } } `, Request, `"a\u0062"`, "tools/list", "{ }", ""},
		{`{"jsonrpc":"2.0","id":-12345678901234567890,"method":"tools/list"}`, Request, "-12345678901234567890", "tools/list", "", ""},
		{`{"jsonrpc":"\u0032.0","id":"","method":"x/y","params":{"a":1}}`, Request, `""`, "x/y", `{"a":1}`, ""},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, Notification, "", "notifications/initialized", "", ""},
		{`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"danger"}}`, Notification, "", "tools/call", `{"name":"danger"}`, ""},
		{`{"jsonrpc":"2.0","id":"pg-1","result":{"action":"accept"}}`, Response, `"pg-1"`, "", "", `{"action":"accept"}`},
	}
	for _, tt := range tests {
		m, fault := Parse([]byte(tt.raw), 4<<20)
		if fault != nil {
			t.Errorf("Parse(%s): %v", tt.raw, fault)
			continue
		}
		if m.Kind != tt.kind || string(m.ID) != tt.id || m.Method != tt.method || string(m.Params) != tt.params || string(m.Result) != tt.result || string(m.Raw) != tt.raw {
			t.Errorf("Parse(%s) = %+v", tt.raw, m)
		}
	}
	m, fault := Parse([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`), 4<<20)
	if fault != nil || m.Kind != Response || m.Result != nil || string(m.Error) != `{"code":-1,"message":"no"}` {
		t.Errorf("an error: %+v, %v", m, fault)
	}
}

// TestMalformedResponsesAreSilent checks that a malformed response is not answered, because two
// proxies could otherwise answer each other forever.
func TestMalformedResponsesAreSilent(t *testing.T) {
	for _, raw := range []string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","error":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{},"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":"x"}`,
		`{"jsonrpc":"2.0","id":1,"result":[]}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"params":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"extra":{}}`,
	} {
		if _, fault := Parse([]byte(raw), 4<<20); fault == nil || !fault.Silent || fault.Code != CodeInvalidRequest {
			t.Errorf("Parse(%s): %+v", raw, fault)
		}
	}
	if _, fault := Parse([]byte(`{"jsonrpc":"2.0","id":1}`), 4<<20); fault == nil || fault.Silent {
		t.Errorf("a message with nothing in it: %+v", fault)
	}
}

func TestLimits(t *testing.T) {
	nested := func(depth int) []byte { // for the array itself
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}`)
	}
	raw := nested(maxDepth - 2)
	if _, fault := Parse(raw, len(raw)); fault != nil {
		t.Error(fault)
	}
	if _, fault := Parse(raw, len(raw)-1); fault == nil || fault.Code != CodeInvalidRequest {
		t.Errorf("too long: %v", fault)
	}
	if _, fault := Parse(nested(maxDepth-1), 4<<20); fault == nil || fault.Code != CodeParse {
		t.Errorf("too deep: %v", fault)
	}
}

func TestFaultIsAnError(t *testing.T) {
	_, fault := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","`+strings.Repeat("k", 1000)+`":1}`), 4<<20)
	want := `invalid request: unknown member "` + strings.Repeat("k", 64) + `..."`
	if fault == nil || fault.Error() != want {
		t.Errorf("got %v, want %s", fault, want)
	}
}

func TestIDKey(t *testing.T) {
	same := [][2]string{{`"a"`, `"\u0061"`}, {`0`, `-0`}, {`7`, `7`}}
	for _, ids := range same {
		if IDKey([]byte(ids[0])) != IDKey([]byte(ids[1])) {
			t.Errorf("%s and %s differ", ids[0], ids[1])
		}
	}
	other := [][2]string{{`"7"`, `7`}, {`"a"`, `"b"`}, {`"\"7"`, `"7"`}, {`7`, `-7`}}
	for _, ids := range other {
		if IDKey([]byte(ids[0])) == IDKey([]byte(ids[1])) {
			t.Errorf("%s and %s do not differ", ids[0], ids[1])
		}
	}
}

func TestParseMeta(t *testing.T) {
	m, fault := parseMeta(t, `{"name":"x","_meta":{"progressToken":"a","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/logLevel":"info","other":1}}`)
	if fault != nil {
		t.Fatal(fault)
	}
	if string(m.ProgressToken) != `"a"` || m.ProtocolVersion < perRequestRevision || string(m.ClientInfo) != `{"name":"c"}` || string(m.ClientCapabilities) != `{"elicitation":{}}` || m.LogLevel != "info" {
		t.Errorf("got %+v", m)
	}
	for _, params := range []string{`{}`, `{"_meta":{}}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`} {
		if m, fault := parseMeta(t, params); fault != nil || m.ProtocolVersion >= perRequestRevision {
			t.Errorf("ParseMeta(%s) = %+v, %v", params, m, fault)
		}
	}
	for _, meta := range []string{
		`null`, `[]`,
		`{"progressToken":null}`, `{"progressToken":1.5}`, `{"progressToken":{}}`, `{"progressToken":true}`,
		`{"io.modelcontextprotocol/protocolVersion":1}`,
		`{"io.modelcontextprotocol/clientInfo":"x"}`,
		`{"io.modelcontextprotocol/clientCapabilities":null}`,
		`{"io.modelcontextprotocol/logLevel":1}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`,
	} {
		if m, fault := parseMeta(t, `{"_meta":`+meta+`}`); fault == nil || fault.Code != CodeInvalidParams {
			t.Errorf("_meta %s: %+v, %v", meta, m, fault)
		}
	}
}

// parseMeta parses the _meta of a request with the given params.
func parseMeta(t *testing.T, params string) (Meta, *Fault) {
	t.Helper()
	m, fault := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":`+params+`}`), 4<<20)
	if fault != nil {
		return Meta{}, fault
	}
	return ParseMeta(m)
}
