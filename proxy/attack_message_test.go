package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// A malformed message is refused before any decision. In the templates, %META% is the _meta of the
// revision and %ID% a fresh id.
type malformed struct {
	name     string
	template string
	code     string
	noID     bool // the id is unknown or missing
}

const (
	codeParse   = "-32700"
	codeRequest = "-32600"
	codeParams  = "-32602"
	codeHeaders = "-32020"
)

// callOf is a template of a call with these params.
func callOf(params string) string {
	return `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%` + params + `}}`
}

// args is a template of a call of safe with these arguments.
func args(a string) string { return callOf(`"name":"safe","arguments":` + a) }

func differentials() []malformed {
	return []malformed{
		{"A001 case variant of name", callOf(`"name":"safe","Name":"danger","arguments":{}`), codeParams, false},
		{"A002 only the wrong case", callOf(`"NAME":"danger"`), codeParams, false},
		{"A003 name twice", callOf(`"name":"safe","name":"danger"`), codeParse, true},
		{"A004 name twice, escaped", callOf(`"name":"safe","na\u006de":"danger"`), codeParse, true},
		{"A005 long s in params", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","param` + "\u017f" + `":{%META%"name":"danger"}}`, codeRequest, false},
		{"A005 long s beside params", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"},"param` + "\u017f" + `":{"name":"danger"}}`, codeRequest, false},
		{"A005 Kelvin sign", callOf(`"name":"safe","tas` + "\u212a" + `":{}`), codeParams, false},
		{"A005 escaped long s", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","param\u017f":{"name":"danger"}}`, codeRequest, false},
		{"A006 long s in arguments", callOf(`"name":"safe","arguments":{"a":1},"argument` + "\u017f" + `":{"a":2}`), codeParams, false},
		{"A006 escaped", callOf(`"name":"safe","arguments":{"a":1},"argument\u017f":{"a":2}`), codeParams, false},
		{"A007 NUL in a key", callOf(`"name":"safe","name\u0000":"danger"`), codeParse, true},
		{"A007 NUL in the name", callOf(`"name":"danger\u0000"`), codeParse, true},
		{"A007 NUL in an action", callOf(`"name":"discord","arguments":{"action":"timeout\u0000"}`), codeParse, true},
		{"A007 raw NUL", callOf("\"name\":\"danger\x00\""), codeParse, true},
		{"A008 second method", `{"jsonrpc":"2.0","id":%ID%,"method":"ping","METHOD":"tools/call","params":{%META%"name":"danger"}}`, codeRequest, false},
		{"A008 method twice", `{"jsonrpc":"2.0","id":%ID%,"method":"ping","method":"tools/call","params":{%META%"name":"danger"}}`, codeParse, true},
		{"A009 key twice in arguments", callOf(`"name":"bash","arguments":{"command":"ls","command":"rm -rf /"}`), codeParse, true},
		{"A009 deep", args(`{"a":{"b":{"c":{"d":{"e":1,"e":2}}}}}`), codeParse, true},
		{"A009 in an array", args(`{"a":[[{"e":1,"\u0065":2}]]}`), codeParse, true},
		{"A010 _meta twice", callOf(`"_meta":{},"_meta":{},"name":"safe"`), codeParse, true},
		{"A010 protocolVersion twice", callOf(`"name":"safe","arguments":{},"protocolVersion":"1","protocolVersion":"2"`), codeParse, true},
		{"A010 inputResponses twice", callOf(`"name":"safe","inputResponses":{},"inputResponses":{}`), codeParse, true},
		{"A010 requestState twice", callOf(`"name":"safe","requestState":"a","requestState":"b"`), codeParse, true},
		{"A010 task twice", callOf(`"name":"safe","task":{},"task":{}`), codeParse, true},
		{"A010 case variant of requestState", callOf(`"name":"safe","requeststate":"a"`), codeParams, false},
		{"A011 invalid UTF-8 in the name", callOf("\"name\":\"sa\xfffe\""), codeParse, true},
		{"A011 invalid UTF-8 in arguments", args("{\"command\":\"r\xffm\"}"), codeParse, true},
		{"A011 overlong", args("{\"a\":\"\xc0\xae\"}"), codeParse, true},
		{"A012 lone surrogate", args(`{"a":"\ud800"}`), codeParse, true},
		{"A012 lone low surrogate in a key", args(`{"\udc00":1}`), codeParse, true},
		{"A012 surrogate as bytes", args("{\"a\":\"\xed\xa0\x80\"}"), codeParse, true},
		{"A013 byte order mark", "\ufeff" + args(`{}`), codeParse, true},
		{"A015 hexadecimal", args(`{"a":0x10}`), codeParse, true},
		{"A015 NaN", args(`{"a":NaN}`), codeParse, true},
		{"A015 plus sign", args(`{"a":+1}`), codeParse, true},
		{"A015 leading zero", args(`{"a":01}`), codeParse, true},
		{"A015 no digits", args(`{"a":1.}`), codeParse, true},
		{"A016 deeper than 128", args(nested(127)), codeParse, true},
		{"A016 deep", args(nested(20_000)), codeParse, true},
		{"A016 unbalanced", args(strings.Repeat(`{"a":`, 100_000)), codeParse, true},
		{"A017 trailing object", args(`{}`) + ` {"x":1}`, codeParse, true},
		{"A017 second message", args(`{}`) + callOf(`"name":"danger"`), codeParse, true},
		{"A017 trailing comma", args(`{},`), codeParse, true},
		{"A019 batch", `[` + callOf(`"name":"danger"`) + `,` + args(`{}`) + `]`, codeRequest, true},
		{"A019 empty batch", `[]`, codeRequest, true},
		{"A021 id is an object", `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, true},
		{"A021 id is an array", `{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, true},
		{"A021 id is a boolean", `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, true},
		{"A021 id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, true},
		{"A020 id is null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{%META%"name":"danger"}}`, codeRequest, true},
		{"A021 id of 4 KB", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 4096) + `","method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, true},
		{"A022 method and result", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","result":{},"params":{%META%"name":"danger"}}`, codeRequest, false},
		{"A022 method and error", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","error":{"code":1,"message":""},"params":{%META%"name":"danger"}}`, codeRequest, false},
		{"A023 unknown member", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"},"params2":{"name":"danger"}}`, codeRequest, false},
		{"A023 __proto__", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"},"__proto__":{"method":"x"}}`, codeRequest, false},
		{"no version", `{"id":%ID%,"method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, false},
		{"other version", `{"jsonrpc":"1.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"}}`, codeRequest, false},
		{"A039 no name", callOf(`"arguments":{}`), codeParams, false},
		{"A039 empty name", callOf(`"name":""`), codeParams, false},
		{"A039 64 KB name", callOf(`"name":"` + strings.Repeat("x", 64<<10) + `"`), codeParams, false},
		{"name is a number", callOf(`"name":5`), codeParams, false},
		{"A050 null", args(`null`), codeParams, false},
		{"A050 array", args(`[]`), codeParams, false},
		{"A050 string", args(`"x"`), codeParams, false},
		{"A050 number", args(`5`), codeParams, false},
		{"_meta is no object", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{"_meta":[],"name":"safe"}}`, codeParams, false},
		{"params are an array", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":["danger"]}`, codeParams, false},
		{"task is no object", callOf(`"name":"safe","task":true`), codeParams, false},
	}
}

// nested returns an object of that depth.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

// TestMalformed: A001 to A023, A039, A050. Each message is answered, nothing moves and nothing is
// executed, on every leg with the same code.
func TestMalformed(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("read", `{}`)
		before := s.state()
		for _, m := range differentials() {
			raw, id := c.fill(m.template)
			want := id
			if m.noID {
				want = "null"
			}
			c.send(raw, nil)
			r := c.await(m.name, func(m message) bool { return m.method == "" && (m.id == want || m.status >= 300 && m.id == "") })
			unnamed := r.code() == codeHeaders && l.http && l.modern && strings.Contains(m.name, "name") // no header fits it
			if r.code() != m.code && !unnamed || r.id != want {
				t.Errorf("%s: got id %q and %s, want code %s", m.name, r.id, clipped(r.raw), m.code)
			}
			if l.http && m.code != codeParams && r.status != http.StatusBadRequest {
				t.Errorf("%s: status %d", m.name, r.status)
			}
			if n := s.log.Executed(""); n != 1 {
				t.Fatalf("%s: %d executions", m.name, n)
			}
		}
		if after := s.state(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		c.must("read", `{}`) // the stream continues
		c.close()
		s.executed("", 2)
	})
}

func clipped(b []byte) string { return string(b[:min(len(b), 300)]) }

// TestArgumentsReachUpstreamVerbatim: A014, A015, A016, A024. Accepted arguments reach the upstream
// as the very same bytes.
func TestArgumentsReachUpstreamVerbatim(t *testing.T) {
	cases := []string{
		`{}`,
		`{"id":12345678901234567891}`,
		`{"a":1.0,"b":1,"c":-0,"d":1E2,"e":1e400,"f":0.10}`,
		`{"n":` + strings.Repeat("9", 100_000) + `}`,
		`{ "b" : 1 ,  "a":	[ ] }`,
		`{"a":"\u0061\/\n<>&` + "\u2028" + `"}`,
		`{"name":"danger","Name":"x","_meta":{"progressToken":1}}`,
		`{"a":"😀","b":"\ud83d\ude00"}`,
		nested(64),
		nested(126),
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		for i, a := range cases {
			c.must("read", a)
			records := s.log.Records(testserver.Executed)
			if got := string(records[i].Args); got != a {
				t.Errorf("sent %s, arrived %s", clipped([]byte(a)), clipped([]byte(got)))
			}
		}
		c.must("read", "") // A050: absent stays absent
		records := s.log.Records(testserver.Executed)
		if got := records[len(cases)].Args; got != nil {
			t.Errorf("absent arguments arrived as %s", got)
		}
	})
}

// TestUnknownParams: A023. Unknown members of params are forwarded unchanged, and members that
// belong to the hop are not.
func TestUnknownParams(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		extra := `,"x-new": {"a": 1.0, "b":[1 ,2]}`
		r := c.reply(c.callWith("read", `{}`, `"vendor/key": 1.50`, extra+`,"inputResponses":{"approval":{}}`))
		if r.result == nil || r.isError() {
			t.Fatalf("%s", r.raw)
		}
		received := s.log.Records(testserver.Received)
		var params string
		for _, rec := range received {
			if at(rec.Bytes, "method") == `"tools/call"` {
				params = at(rec.Bytes, "params")
			}
		}
		if !strings.Contains(params, `"x-new": {"a": 1.0, "b":[1 ,2]}`) || !strings.Contains(params, `"vendor/key": 1.50`) {
			t.Errorf("unknown members were lost: %s", params)
		}
		if strings.Contains(params, "inputResponses") != l.modern || // stateless upstreams read them
			strings.Contains(params, "requestState") || strings.Contains(params, `"tester"`) {
			t.Errorf("members of the hop were forwarded: %s", params)
		}
	})
}

// TestNotificationAsCall: A020. A call without an id is neither made nor answered.
func TestNotificationAsCall(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		raw, _ := c.fill(`{"jsonrpc":"2.0","method":"tools/call","params":{%META%"name":"read"}}`)
		c.send(raw, nil)
		if l.http {
			r := c.await("an empty answer", func(m message) bool { return m.id == "" && m.status != 0 })
			if r.status != http.StatusAccepted || len(r.raw) != 0 {
				t.Errorf("%d %s", r.status, r.raw)
			}
		}
		c.must("safe", `{}`)
		if n := c.mail.count(func(m message) bool { return len(m.raw) > 0 }); n != 0 {
			t.Errorf("%d messages that nobody asked for: %s", n, c.mail)
		}
		c.close()
		s.executed("read", 0)
		s.executed("safe", 1)
	})
}

// TestIDs: A021. Ids are returned unchanged; an id that is in flight is refused. Stateless requests
// over HTTP are separate even with the same id: each has its own response.
func TestIDs(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		for _, id := range []string{`0`, `-7`, `1152921504606846976`, `"7"`, `"\u0041/é"`, `""`, `"` + strings.Repeat("y", 1000) + `"`} {
			c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{`+c.meta("")+`"name":"safe"}}`), nil)
			if r := c.reply(id); r.result == nil {
				t.Errorf("%s: %s", id, r.raw)
			}
		}
		slow := `{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{` + c.meta("") + `"name":"slow"}}`
		again := strings.Replace(slow, `"slow"`, `"push"`, 1)
		c.send([]byte(slow), nil)
		s.awaitExecuted("slow", 1)
		c.send([]byte(again), nil)
		r := c.reply(`"twice"`)
		if stateless := l.http && l.modern; stateless {
			s.executed("push", 1)
			if r.isError() {
				t.Errorf("%s", r.raw)
			}
		} else {
			s.executed("push", 0)
			if !r.isError() || r.decision("kind") != "duplicate" {
				t.Errorf("%s", r.raw)
			}
		}
		s.upstream.Release()
		if r := c.reply(`"twice"`); r.isError() || r.text() != "released" {
			t.Errorf("the first call was disturbed: %s", r.raw)
		}
	})
}

// TestLines: A018. A line is a message, whatever it contains.
func TestLines(t *testing.T) {
	for _, l := range []leg{legs()[0], legs()[3]} {
		t.Run(l.name, func(t *testing.T) {
			s := start(t, setup{})
			c := s.connect(l, "")
			whole, _ := c.fill(args(`{}`))
			refused := func(name, line string, n int) {
				t.Helper()
				c.send([]byte(line), nil)
				for range n {
					if r := c.reply("null"); r.code() != codeParse {
						t.Errorf("%s: %s", name, r.raw)
					}
				}
			}
			refused("two on a line", string(whole)+string(whole), 1)
			refused("line break in a string", strings.Replace(string(whole), "safe", "sa\nfe", 1), 2)
			refused("half a message", `{"jsonrpc":"2.0",`, 1)
			c.send([]byte("\r\n\n"+string(whole)+"\r"), nil)
			if r := c.reply(parseMessage(whole, 0).id); r.result == nil {
				t.Errorf("%s", r.raw)
			}
			c.must("read", `{"a":"`+"\u2028\u0085"+`"}`)
			c.close()
			s.executed("", 2)
		})
	}
}

// TestResponsesAreNotAnswered: a malformed response gets no answer over stdio, since that would
// answer an answer.
func TestResponsesAreNotAnswered(t *testing.T) {
	for _, l := range []leg{legs()[0], legs()[3]} {
		t.Run(l.name, func(t *testing.T) {
			c := start(t, setup{}).connect(l, "")
			for _, raw := range []string{
				`{"jsonrpc":"2.0","id":"x","result":5}`,
				`{"jsonrpc":"2.0","id":"x","result":{},"error":{}}`,
				`{"jsonrpc":"2.0","id":"x","result":{}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"decision":"approve"}}}`,
			} {
				c.send([]byte(raw), nil)
			}
			c.must("safe", `{}`)
			if n := c.mail.count(func(message) bool { return true }); n != 0 {
				t.Errorf("%d messages that nobody asked for: %s", n, c.mail)
			}
		})
	}
}

// TestEveryLineIsAMessage: a stdio client gets only messages, whatever it sends.
func TestEveryLineIsAMessage(t *testing.T) {
	s := start(t, setup{})
	c := s.connect(legs()[0], "")
	for i := range 200 {
		c.send([]byte(fmt.Sprintf("%c{\x01\"\xff%d", rune('!'+i%90), i)), nil)
	}
	for range 200 {
		r := c.reply("null")
		if !json.Valid(r.raw) {
			t.Errorf("%q", r.raw)
		}
	}
}
