package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/rawjson"
)

func TestParseUpstream(t *testing.T) {
	tests := []struct {
		line   string
		kind   Kind
		id     int64
		method string
		body   string // params, result or error
	}{
		{`{"jsonrpc":"2.0","id":5,"result":{"content":[]}}`, Response, 5, "", `{"content":[]}`},
		{`{"result": {"a":"}\"]"} ,"id":-5,"jsonrpc":"2.0"}`, Response, -5, "", `{"a":"}\"]"}`},
		{`{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x","data":1.0}}`, Response, 5, "", `{"code":1,"message":"x","data":1.0}`},
		{`{"jsonrpc":"2.0","id":5,"error":null,"result":{}}`, Response, 5, "", `{}`},
		{`{"jsonrpc":"2.0","id":5,"error":{},"result":null}`, Response, 5, "", `{}`},
		{`{"jsonrpc":"2.0","id":5,"result":null}`, Response, 5, "", `null`},
		{`{"jsonrpc":"2.0","id":5,"result":{},"_vendor":1}`, Response, 5, "", `{}`},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`, Notification, 0, "notifications/progress", `{"progress":1}`},
		{`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, Request, 0, "roots/list", ``},
		{"{\"jsonrpc\":\"2.0\",\r\n\"id\":5,\"result\":{\n}}", Response, 5, "", "{\t}"},
	}
	for _, tt := range tests {
		m, err := ParseUpstream([]byte(tt.line))
		if err != nil {
			t.Errorf("ParseUpstream(%q): %v", tt.line, err)
			continue
		}
		body := string(m.Params) + string(m.Result) + string(m.Error)
		if m.Kind != tt.kind || m.Number != tt.id || m.Method != tt.method || body != tt.body {
			t.Errorf("ParseUpstream(%q) = %+v", tt.line, m)
		}
	}
}

func TestParseUpstreamRefuses(t *testing.T) {
	for _, line := range []string{
		``, `[]`, `1`, `{`, `{}`,
		`{"jsonrpc":"2.0","id":5,"result":{}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}} {"jsonrpc":"2.0","id":6,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"a":[}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"a":"}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"isError":true},"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"isError":true},"resul\u0074":{}}`,
		`{"jsonrpc":"2.0","id":5,"id":6,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"result":{},"Result":{}}`,
		`{"jsonrpc":"2.0","id":5,"re` + "\u017f" + `ult":{},"result":{}}`,
		`{"jsonrpc":"2.0","ID":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":"5","result":{}}`,
		`{"jsonrpc":"2.0","id":5.0,"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{}}`,
		`{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":99999999999999999999,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"result":{},"error":{}}`,
		`{"jsonrpc":"2.0","id":5,"error":"x"}`,
		`{"jsonrpc":"2.0","id":5,"method":"x","result":{}}`,
		`{"jsonrpc":"1.0","id":5,"result":{}}`,
		`{"id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":{},"method":"x"}`,
		`{"jsonrpc":"2.0","method":5}`,
	} {
		if m, err := ParseUpstream([]byte(line)); err == nil {
			t.Errorf("ParseUpstream(%q) = %+v", line, m)
		}
	}
}

func TestFacts(t *testing.T) {
	tests := []struct {
		result         string
		success, ended bool
	}{
		{`{}`, true, true},
		{`{"content":[{"isError":true}]}`, true, true},
		{`{"isError":false}`, true, true},
		{`{"isError":false,"resultType":"complete"}`, true, true},
		{`{"resultType":"compl\u0065te"}`, true, true},
		{`{"isError":true}`, false, true},
		{`{"isError":null}`, false, true},
		{`{"isError":0}`, false, true},
		{`{"isError":"false"}`, false, true},
		{`{"isError":false,"isError":true}`, false, true},
		{`{"isError":true,"isError":false}`, false, true},
		{`{"isError":false,"is\u0045rror":false}`, false, true},
		{`{"iserror":true}`, false, true},
		{`{"isError":false,"I` + "\u017f" + `Error":true}`, false, true},
		{`{"ResultType":"input_required"}`, false, true},
		{`{"resultType":"complete","resultType":"complete"}`, false, true},
		{`{"resultType":"other"}`, false, true},
		{`{"resultType":null}`, false, true},
		{`{"resultType":"input_required"}`, false, false},
		{`{"task":{"taskId":"1"}}`, false, false},
		{`{"Task":{"taskId":"1"}}`, false, true},
		{`{"task":{},"task":{}}`, false, false},
		{`null`, false, true},
		{`[]`, false, true},
		{``, false, true},
		{`{"isError":false`, false, true},
	}
	for _, tt := range tests {
		facts := ResultFacts([]byte(tt.result))
		success, ended := facts.Success(), facts.Type != TypeInputRequired && !facts.IsHandle()
		if success != tt.success || ended != tt.ended {
			t.Errorf("%s: success %v, ended %v, want %v, %v", tt.result, success, ended, tt.success, tt.ended)
		}
	}
}

func TestAppendStamped(t *testing.T) {
	const stamp = `{"resultType":"complete","ttlMs":0}`
	tests := []struct{ result, want string }{
		{`{}`, `{"resultType":"complete","ttlMs":0}`},
		{` { } `, ` {"resultType":"complete","ttlMs":0 } `},
		{`{"a":1.0 }`, `{"a":1.0,"resultType":"complete","ttlMs":0 }`},
		{`{"ttlMs":5,"a":"}"}`, `{"ttlMs":5,"a":"}","resultType":"complete"}`},
		{`{"resultType":"input_required","ttlMs":1}`, `{"resultType":"input_required","ttlMs":1}`},
		{`null`, `null`},
		{`[{}]`, `[{}]`},
		{`{"a":`, `{"a":`},
	}
	for _, tt := range tests {
		if got := string(AppendStamped(nil, []byte(tt.result), []byte(stamp))); got != tt.want {
			t.Errorf("AppendStamped(%s) = %s, want %s", tt.result, got, tt.want)
		}
	}
}

func TestReplaceMember(t *testing.T) {
	tests := []struct{ obj, want string }{
		{`{"name":"a"}`, `{"name":"b"}`},
		{` { "x" : { "name" : 1 } , "na\u006de" : "a" , "y":1.0} `, ` { "x" : { "name" : 1 } , "na\u006de" : "b" , "y":1.0} `},
		{`{"Name":"a"}`, `{"Name":"a"}`},
		{`[]`, `[]`},
	}
	for _, tt := range tests {
		if got := string(ReplaceMember(nil, []byte(tt.obj), "name", []byte(`"b"`))); got != tt.want {
			t.Errorf("ReplaceMember(%s) = %s, want %s", tt.obj, got, tt.want)
		}
	}
}

func TestBuilders(t *testing.T) {
	id := []byte(`"a"`)
	tests := []struct{ got, want string }{
		{string(AppendRequest(nil, id, "ping", nil)), `{"jsonrpc":"2.0","id":"a","method":"ping"}`},
		{string(AppendRequestInt(nil, 7, "x", []byte(`{}`))), `{"jsonrpc":"2.0","id":7,"method":"x","params":{}}`},
		{string(AppendNotification(nil, "n", []byte(`{}`))), `{"jsonrpc":"2.0","method":"n","params":{}}`},
		{string(AppendNotification(nil, "n", nil)), `{"jsonrpc":"2.0","method":"n"}`},
		{string(AppendResult(nil, id, []byte(`{}`))), `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{string(ResultHead(id)) + `{}` + string(Tail), `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{string(ErrorHead(id)) + `{}` + string(Tail), `{"jsonrpc":"2.0","id":"a","error":{}}`},
		{string(AppendError(nil, nil, -32700, "a\nb", nil)), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a\nb"}}`},
		{string(AppendError(nil, id, 1, "x", []byte(`1.0`))), `{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x","data":1.0}}`},
		{string(AppendToolError(nil, "<no>", nil, false)), `{"content":[{"type":"text","text":"<no>"}],"isError":true}`},
		{string(AppendToolError(nil, "no", []byte(`{"k":1}`), true)), `{"content":[{"type":"text","text":"no"}],"isError":true,"resultType":"complete","_meta":{"k":1}}`},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
		if !json.Valid([]byte(tt.got)) {
			t.Errorf("no JSON: %s", tt.got)
		}
	}
}

// FuzzParseUpstream checks that the members of an envelope that encoding/json accepts are found at
// the same places.
func FuzzParseUpstream(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":5,"result":{"a":"}\"]\\"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":5,"error":{"code":1}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := ParseUpstream(line)
		ResultFacts(line)
		AppendStamped(nil, line, []byte(`{"a":1}`))
		ReplaceMember(nil, line, "result", []byte(`1`))
		if err != nil || !json.Valid(line) {
			return
		}
		var want struct{ Params, Result, Error json.RawMessage }
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		same := func(got []byte, want json.RawMessage) bool {
			return string(got) == strings.NewReplacer("\n", " ", "\r", " ").Replace(string(want)) || got == nil && string(want) == "null"
		}
		if !same(m.Params, want.Params) || !same(m.Result, want.Result) || !same(m.Error, want.Error) {
			t.Fatalf("%s is read as %+v", line, m)
		}
	})
}

// TestBrokenString checks that a line break in a string of an upstream's message neither makes an
// invalid message valid nor changes its text. Between tokens it is white space.
func TestBrokenString(t *testing.T) {
	for _, br := range []string{"\r", "\n"} {
		for body, right := range map[string]bool{`{"a":"b` + br + `c"}`: false, `{` + br + `"a":"b"` + br + `}`: true} {
			m, err := ParseUpstream([]byte(`{"jsonrpc":"2.0",` + br + `"id":1,"result":` + body + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := rawjson.Check(m.Result, rawjson.MaxDepth); (err == nil) != right || strings.ContainsAny(string(m.Result), "\r\n") {
				t.Errorf("%q became %q: %v", body, m.Result, err)
			}
		}
	}
}
